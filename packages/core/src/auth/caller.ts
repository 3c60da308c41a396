import { fromJsonText, type JsonText, type RunRecord, toJsonText, utf8Length } from '@perdure/ports'
import { isPlainObject, type JwtClaims } from '@perdure/protocol'

/** Facts about a user besides its subject. */
export interface CallerFacts {
  /** The name of the user, to be shown to people. */
  readonly name?: string | undefined
  /** Verified facts about the user, such as its plan or its e-mail address: JSON of at most 4,096 bytes. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
}

/** The user on whose behalf a run executes, as it was when it asked for the run. */
export interface RunCaller {
  /** The same as `owner`. */
  readonly subject: string
  readonly name: string | undefined
  /** Empty if nobody has verified anything about the user. */
  readonly claims: Readonly<Record<string, unknown>>
}

export const MAX_CALLER_BYTES = 4_096
const MAX_NAME_LENGTH = 256

/** The part of a principal, token or run that says who the user is; opaque to stores. `undefined` without facts. */
export function toCallerText({ name, claims }: CallerFacts): JsonText | undefined {
  const isEmpty = name === undefined && (claims === undefined || Object.keys(claims).length === 0)
  return isEmpty ? undefined : toJsonText({ name, claims })
}

/** The problem of facts that a program states; `undefined` for valid ones. */
export function callerProblem({ name, claims }: { readonly name?: unknown; readonly claims?: unknown }) {
  if (name !== undefined && !isName(name)) return `name must be a text of 1 to ${MAX_NAME_LENGTH} characters`
  if (claims === undefined) return undefined
  if (!isPlainObject(claims)) return 'claims must be an object such as { plan: "pro" }'
  try {
    return utf8Length(toJsonText({ name, claims })) > MAX_CALLER_BYTES
      ? `name and claims have more than ${MAX_CALLER_BYTES} bytes as JSON`
      : undefined
  } catch {
    return 'claims must be JSON, without BigInt or circular references'
  }
}

const isName = (name: unknown): name is string =>
  typeof name === 'string' && name.length >= 1 && name.length <= MAX_NAME_LENGTH && name.isWellFormed()

/** The claims of a JWT that the configuration lets through. */
export function factsOf(claims: JwtClaims, names: readonly string[]): CallerFacts {
  const known = Object.fromEntries(
    names.filter((name) => Object.hasOwn(claims, name)).map((name) => [name, claims[name]]),
  )
  return { name: Object.hasOwn(known, 'name') && isName(known.name) ? known.name : undefined, claims: known }
}

/** The value of `ctx.caller`. It is frozen, so that no code of the run can change what later code decides by. */
export function callerOfRun({ owner, caller }: Pick<RunRecord, 'owner' | 'caller'>): RunCaller {
  const { name, claims = {} } = caller === undefined ? {} : (fromJsonText(caller) as CallerFacts)
  return Object.freeze({ subject: owner, name, claims: deepFrozen(claims) })
}

/** The text of a caller is at most `MAX_CALLER_BYTES` long, so its values cannot nest too deeply. */
function deepFrozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) deepFrozen(member)
  return Object.freeze(value)
}

/** Facts that replace those of another request with nothing. */
export const NO_CALLER = toJsonText({})
