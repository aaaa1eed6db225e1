// What every peer shares: the input, the token counter, and the median of warm runs in this process.
import { readFileSync } from "node:fs";

export const input = JSON.parse(readFileSync(process.argv[2], "utf8"));

export const countTokens = (text) => Math.ceil(Buffer.byteLength(text, "utf8") / 4);

export async function report(fit) {
  let kept = 0;
  for (let run = 0; run < input.warm_up; run++) kept = await fit();
  const spent = [];
  for (let run = 0; run < input.runs; run++) {
    const start = performance.now();
    await fit();
    spent.push(performance.now() - start);
  }
  spent.sort((a, b) => a - b);
  console.log(JSON.stringify({ median_ms: spent[Math.floor(spent.length / 2)], kept }));
}
