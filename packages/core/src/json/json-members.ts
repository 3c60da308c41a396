import { type JsonText, toJsonText } from '@perdure/ports'

/** Builds a JSON object from `fields`, followed by members whose text is already JSON. Leaves out undefined members. */
export function jsonObject(fields: object, texts: Readonly<Record<string, JsonText | undefined>>): JsonText {
  let object = toJsonText(fields).slice(0, -1)
  for (const name of Object.keys(texts)) {
    const text = texts[name]
    if (text !== undefined) object += `${object === '{' ? '' : ','}${JSON.stringify(name)}:${text}`
  }
  return `${object}}` as JsonText
}

/** Whether `text` is longer than `maxBytes` in UTF-8. */
export function isLongerThan(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true
  return text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes
}

/** `undefined` for a value that JSON cannot represent: a BigInt or a circular reference. */
export function jsonOrUndefined(value: unknown): JsonText | undefined {
  try {
    return toJsonText(value)
  } catch {
    return undefined
  }
}
