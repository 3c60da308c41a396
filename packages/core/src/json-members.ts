import { type JsonText, toJsonText } from '@berth/ports'

/** One JSON object of `fields` and, after them, members whose text is already JSON. Missing members are left out. */
export function jsonObject(fields: object, texts: Readonly<Record<string, JsonText | undefined>>): JsonText {
  const head = toJsonText(fields).slice(1, -1)
  const members = Object.entries(texts)
    .filter(([, text]) => text !== undefined)
    .map(([name, text]) => `${JSON.stringify(name)}:${text}`)
  return `{${[head, ...members].filter((part) => part !== '').join(',')}}` as JsonText
}

/** Whether the UTF-8 form of `text` is longer than `maxBytes`. */
export function isLongerThan(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true
  return text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes
}
