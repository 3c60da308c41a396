import type * as ai from 'ai'

/** The AI SDK of the author's project, version 6 or 7. */
export type Sdk = Pick<
  typeof ai,
  | 'streamText'
  | 'generateText'
  | 'embed'
  | 'embedMany'
  | 'ToolLoopAgent'
  | 'gateway'
  | 'asSchema'
  | 'InvalidToolInputError'
>

/** Options of a call of the SDK. Their types differ between its versions; the public types are those of the SDK. */
export type Options = Readonly<Record<string, unknown>>

export type AnyFunction = (...args: never[]) => unknown

export const isFunction = (value: unknown): value is (...args: readonly unknown[]) => unknown =>
  typeof value === 'function'

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
