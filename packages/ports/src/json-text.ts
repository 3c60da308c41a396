/**
 * One JSON document as UTF-8 text. User data (inputs, results, event payloads, messages) travels through the server as
 * text: parsed at most once at the edge, never serialized twice, never shared by reference.
 */
export type JsonText = string & { readonly __format: 'json' }

/** The JSON text of a value; `undefined`, functions and symbols become `null`. @throws TypeError for cycles and BigInt. */
export const toJsonText = (value: unknown): JsonText => (JSON.stringify(value) ?? 'null') as JsonText

export const fromJsonText = (text: JsonText): unknown => JSON.parse(text)
