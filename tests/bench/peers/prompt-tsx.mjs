// @vscode/prompt-tsx: one text chunk per segment in a user message, pruned by priority.
import tsx from "@vscode/prompt-tsx";
import { countTokens, input, report } from "./measure.mjs";

const { OutputMode, PromptElement, PromptRenderer, TextChunk, UserMessage } = tsx;
const textOf = (message) => message.content.map((part) => part.text ?? "").join("");
const tokenizer = {
  mode: OutputMode.Raw,
  tokenLength: (part) => countTokens(part.text ?? ""),
  countMessageTokens: (message) => countTokens(textOf(message)),
};

class Prompt extends PromptElement {
  render() {
    const chunks = this.props.segments.map((one) => vscpp(TextChunk, { priority: one.priority }, one.text));
    return vscpp(UserMessage, null, ...chunks);
  }
}

await report(async () => {
  const endpoint = { modelMaxPromptTokens: input.budget_tokens };
  const renderer = new PromptRenderer(endpoint, Prompt, { segments: input.segments }, tokenizer);
  const { messages } = await renderer.render();
  const text = messages.map(textOf).join("");
  return input.segments.filter((one) => text.includes(one.text)).length;
});
