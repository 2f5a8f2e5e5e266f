// Texts of a language: JSON with {0} for what is put in, and {0, plural, one {# station} other {# stations}} for what a
// number changes, as in ICU's MessageFormat. A text with something to put in becomes a function of it.
// "a {0} b" as ["a ", { at: 0 }, " b"]; a plural is { at, forms: { one: [...], other: [...] } }, # is { number: true }.
function parse(text) {
  let at = 0;
  function refuse(why) {
    throw new SyntaxError(`${why} at ${at} of: ${text}`);
  }
  function parts(inside) {
    const list = [];
    let plain = "";
    const flush = () => {
      if (plain) list.push(plain);
      plain = "";
    };
    for (; at < text.length && !(inside && text[at] === "}"); ) {
      const character = text[at++];
      if (character === "{") {
        flush();
        list.push(placeholder());
      } else if (character === "#" && inside) {
        flush();
        list.push({ number: true });
      } else if (character === "}") refuse("} without {");
      else plain += character;
    }
    flush();
    return list;
  }
  function placeholder() {
    const found = /^(\d)(\s*,\s*plural\s*,)?\s*/.exec(text.slice(at)) ?? refuse("a number is missing");
    at += found[0].length;
    const made = { at: Number(found[1]) };
    if (found[2]) {
      made.forms = {};
      while (text[at] !== "}") {
        const form = /^([a-z]+)\s*\{/.exec(text.slice(at)) ?? refuse("a form of the plural is missing");
        at += form[0].length;
        made.forms[form[1]] = parts(true);
        if (text[at++] !== "}") refuse("} is missing");
        at += /^\s*/.exec(text.slice(at))[0].length;
      }
      if (!made.forms.other) refuse("the form `other` is missing");
    }
    if (text[at++] !== "}") refuse("} is missing");
    return made;
  }
  return parts(false);
}

// What a language calls numbers: { text(number), decimal, percent(0 to 1), form(number) }.
function numbers(language) {
  const format = new Intl.NumberFormat(language, /** @type {any} */ ({ maximumFractionDigits: 3, useGrouping: "min2" }));
  const percent = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 });
  const rules = new Intl.PluralRules(language);
  return {
    text: (value) => format.format(value),
    percent: (value) => percent.format(value),
    form: (value) => rules.select(value),
    decimal: format.formatToParts(1.5).find((part) => part.type === "decimal").value,
  };
}

function fill(parts, values, words, count) {
  let text = "";
  for (const part of parts) {
    if (typeof part === "string") text += part;
    else if (part.number) text += words.text(count);
    else {
      const value = values[part.at];
      if (part.forms) text += fill(part.forms[words.form(Number(value))] ?? part.forms.other, values, words, Number(value));
      else text += typeof value === "number" ? words.text(value) : value ?? "";
    }
  }
  return text;
}

// A language's texts, those that it lacks from `otherwise`. Words are looked up by names that stations send: only ours
// are found, not what every object has ("constructor").
function compile(tree, otherwise, words) {
  if (Array.isArray(otherwise)) return Array.isArray(tree) && tree.length === otherwise.length ? tree : otherwise;
  if (otherwise !== null && typeof otherwise === "object") {
    const made = Object.create(null);
    for (const name of Object.keys(otherwise)) made[name] = compile(tree?.[name], otherwise[name], words);
    return made;
  }
  const text = typeof tree === "string" ? tree : otherwise;
  if (!text.includes("{")) return text;
  const parts = parse(text);
  return (...values) => fill(parts, values, words);
}

export const messages = { parse, numbers, compile };
