import { type JsonText, toJsonText } from '@perdure/ports'

/** One JSON object of `fields` and, after them, members whose text is already JSON. Missing members are left out. */
export function jsonObject(fields: object, texts: Readonly<Record<string, JsonText | undefined>>): JsonText {
  let object = toJsonText(fields).slice(0, -1)
  for (const name of Object.keys(texts)) {
    const text = texts[name]
    if (text !== undefined) object += `${object === '{' ? '' : ','}${JSON.stringify(name)}:${text}`
  }
  return `${object}}` as JsonText
}

/** Whether the UTF-8 form of `text` is longer than `maxBytes`. */
export function isLongerThan(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true
  return text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes
}
