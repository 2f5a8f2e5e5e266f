import assert from "node:assert";
import { test } from "node:test";
import { language } from "./support/load.js";
import { classified } from "../src/pure/classified.js";
import { messages } from "../src/pure/messages.js";

const english = language("en");
const said = (code, event) => {
  const numbers = messages.numbers(code);
  return classified(event, messages.compile(language(code), english, numbers).class, numbers);
};

test("a percentage says of what: beside another class of an earthquake, in every language", () => {
  for (const code of ["en", "de", "es", "it", "ja", "tr"]) {
    const { names } = language(code).class;
    const percent = String.raw`[<>]?(\d+\s?%|%\d+)`;
    for (const p of [0, 0.004, 0.1, 0.49, 0.5, 0.93, 0.998, 1]) {
      assert.match(said(code, { class: { likely: "earthquake", p } }), new RegExp(`^${names.earthquake}${p < 0.5 ? "" : ` ${percent}`}$`), code);
      for (const likely of ["disturbance", "unclassified"]) {
        assert.match(said(code, { class: { likely, p } }), new RegExp(`^${names[likely]} ?[(（]${names.earthquake} ${percent}[)）]$`), `${code} ${likely} ${p}`);
      }
    }
  }
  assert.deepStrictEqual([0.998, 0.93, 0.004].map((p) => said("en", { class: { likely: "disturbance", p } })),
    ["disturbance (earthquake >99%)", "disturbance (earthquake 93%)", "disturbance (earthquake <1%)"]);
});

test("what people have said counts, and of what nobody has said anything there is nothing", () => {
  assert.strictEqual(said("de", { class: { likely: "earthquake", p: 0.9 }, label: "truck" }), language("de").class.labels.truck);
  assert.strictEqual(said("en", { label: "of a later version" }), "of a later version");
  assert.strictEqual(said("en", { class: { likely: "earthquake" } }), "earthquake");
  for (const event of [{}, { class: null }, { class: {} }, { class: { likely: "new", p: 0.5 } }]) assert.strictEqual(said("en", event), null);
});
