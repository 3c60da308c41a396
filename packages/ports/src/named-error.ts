/** Base class of every error that the server throws: an error with its own name and an optional cause. */
export class NamedError extends Error {
  constructor(name: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = name
  }
}

/** Whether a value is an error of this name, even one from another copy of this package. */
export const isNamedError = (value: unknown, name: string): value is Error =>
  value instanceof Error && value.name === name
