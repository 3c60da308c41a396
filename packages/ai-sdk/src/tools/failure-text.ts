import type { Sdk } from '../sdk.ts'

/** What the SDK tells the model about a tool that failed with this kind of failure. */
export type FailureText = (failure: { readonly error: string; readonly kind?: string | undefined }) => string

/** The errors that the SDK itself makes; other errors of tools reach it as an `Error`. */
const NAMES: Readonly<Record<string, string>> = {
  invalid_input: 'AI_InvalidToolInputError',
  unknown_tool: 'AI_NoSuchToolError',
}

/** Version 7 tells the model the name of an error together with its message, version 6 only the message. */
export function failureTextOf({ InvalidToolInputError }: Sdk): FailureText {
  const { message } = new InvalidToolInputError({ toolName: '', toolInput: '', cause: new Error('probe') })
  const isNamed = message.endsWith('Error: probe')
  return ({ error, kind = '' }) => (isNamed ? `${NAMES[kind] ?? 'Error'}: ${error}` : error)
}

export const plainFailure: FailureText = ({ error }) => error
