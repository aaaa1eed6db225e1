// priompt: one scope per segment, dropped below the priority cutoff that its binary search finds.
import priompt from "@impowering/priompt";
import { countTokens, input, report } from "./measure.mjs";

const count = async (text) => countTokens(text);
const tokenizer = {
  name: "bytes/4",
  encodeTokens: async (text) => new Array(countTokens(text)).fill(0),
  decodeTokens: async () => "",
  numTokens: count,
  estimateNumTokensFast_SYNCHRONOUS_BE_CAREFUL: countTokens,
  estimateNumTokensFast: count,
  estimateTokensUsingCharCount: (text) => [countTokens(text), countTokens(text)],
  getHeaderStringForMessage: () => "",
  getHeaderTokensForMessage: async () => [],
  getEosTokenId: () => 0,
  getEosToken: () => "",
  applyChatTemplate: (messages) => messages.map((one) => one.content).join(""),
  applyChatTemplateTokens: async () => [],
  shouldAddEosTokenToEachMessage: false,
};

await report(async () => {
  const scopes = input.segments.map((one) => priompt.createElement("scope", { p: one.priority }, one.text));
  const prompt = priompt.createElement(priompt.Fragment, null, ...scopes);
  const rendered = await priompt.render(prompt, { tokenizer, tokenLimit: input.budget_tokens });
  const text = priompt.promptGetText(rendered.prompt);
  return input.segments.filter((one) => text.includes(one.text)).length;
});
