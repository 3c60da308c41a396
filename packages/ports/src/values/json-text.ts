/**
 * A JSON document as text. User data (inputs, results, event payloads, messages) passes through the server as text:
 * parsed at most once, at the edge; never serialized twice; never shared by reference.
 */
export type JsonText = string & { readonly __format: 'json' }

/** Serializes a value; `undefined`, functions and symbols become `null`. @throws TypeError for cycles and BigInt */
export const toJsonText = (value: unknown): JsonText => (JSON.stringify(value) ?? 'null') as JsonText

/** Length of a text in bytes of UTF-8. */
export function utf8Length(text: string): number {
  let length = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit > 0x7ff) length += unit >= 0xd800 && unit <= 0xdfff ? 1 : 2
    else if (unit > 0x7f) length++
  }
  return length
}

export const fromJsonText = (text: JsonText): unknown => JSON.parse(text)
