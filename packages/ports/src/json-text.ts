/**
 * A JSON document as text. User data (inputs, results, event payloads, messages) passes through the server as text:
 * parsed at most once, at the edge; never serialized twice; never shared by reference.
 */
export type JsonText = string & { readonly __format: 'json' }

/** Serializes a value; `undefined`, functions and symbols become `null`. @throws TypeError for cycles and BigInt */
export const toJsonText = (value: unknown): JsonText => (JSON.stringify(value) ?? 'null') as JsonText

export const fromJsonText = (text: JsonText): unknown => JSON.parse(text)
