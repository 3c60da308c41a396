/**
 * Port. Checks a value against a JSON Schema of the version 2020-12.
 *
 * @returns what does not match; `undefined` if everything does
 * @throws if the schema cannot be used
 */
export type CheckJson = (schema: unknown, value: unknown) => Promise<string | undefined>
