export interface ErrorDescription {
  readonly name: string
  readonly message: string
  readonly code?: string | undefined // `code`, or else `kind`
  readonly hint?: string | undefined
  readonly stack?: string | undefined
  readonly causes?: readonly ErrorDescription[] | undefined
}

const MAX_CAUSES = 5

/** Describes any thrown value, with its chain of causes, for a log line. Never throws. */
export function describeError(thrown: unknown): ErrorDescription {
  try {
    return describe(thrown)
  } catch {
    return { name: typeof thrown, message: 'the thrown value cannot be described' }
  }
}

function describe(thrown: unknown): ErrorDescription {
  const causes: ErrorDescription[] = []
  let cause = thrown instanceof Error ? thrown.cause : undefined
  while (cause !== undefined && causes.length < MAX_CAUSES) {
    causes.push(describeOne(cause))
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return causes.length === 0 ? describeOne(thrown) : { ...describeOne(thrown), causes }
}

function describeOne(thrown: unknown): ErrorDescription {
  if (!(thrown instanceof Error)) return { name: typeof thrown, message: textOf(thrown) }
  const { code, kind, hint } = thrown as { code?: unknown; kind?: unknown; hint?: unknown }
  const id = [code, kind].find((value) => typeof value === 'string' && value !== '') as string | undefined
  return {
    name: thrown.name,
    message: thrown.message,
    code: id,
    hint: typeof hint === 'string' ? hint : undefined,
    stack: thrown.stack,
  }
}

function textOf(value: unknown): string {
  try {
    return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  } catch {
    return Object.prototype.toString.call(value)
  }
}
