import { isRefusal, StartError } from '@perdure/ports'
import { ERRORS, START_ERRORS } from '@perdure/protocol'
import { CommanderError } from 'commander'
import { isClientError } from './client-error.ts'
import { fieldOf } from './config/field-of.ts'
import type { LoadedConfig } from './config/load-config.ts'
import { locationOfField } from './config/location-of-field.ts'

/**
 * What a failed command with `--json` writes to stdout. `kind` repeats `error`, because start errors are identified by
 * their kind.
 */
export interface ErrorReport {
  readonly error: string
  readonly kind: string
  readonly message: string
  readonly hint?: string
  /** The configuration field and its source location. */
  readonly at?: string
  /** Help topic that explains the identifier. */
  readonly docs?: string
  readonly requestId?: string
}

/** What the failed command was working with. */
export interface ErrorContext {
  readonly config?: LoadedConfig | undefined
  readonly serverUrl?: string | undefined
  readonly isVerbose?: boolean
  /** The command that failed, such as `runs list`; `undefined` if the words name no command. */
  readonly command?: string | undefined
}

export function reportOf(error: unknown, context: ErrorContext = {}): ErrorReport {
  if (error instanceof CommanderError) return usageReport(error, context)
  const kind = identifierOf(error)
  const message = messageOf(error, context)
  const hint = hintOf(error, context)
  const at = error instanceof StartError ? locationText(error, context) : undefined
  const requestId = isClientError(error) ? error.requestId : undefined
  return {
    error: kind,
    kind,
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(at === undefined ? {} : { at }),
    ...(isDocumented(kind) ? { docs: `errors/${kind}` } : {}),
    ...(requestId === undefined ? {} : { requestId }),
  }
}

/**
 * `error[<kind>]: message`, then location, hint and cause. An error without an identifier also gets its stack.
 */
export function reportText(error: unknown, context: ErrorContext = {}): string {
  const { kind, message, hint, at, requestId } = reportOf(error, context)
  const lines = [`error[${kind}]: ${message}`]
  if (at !== undefined) lines.push(`  at ${at}`)
  if (hint !== undefined) lines.push(`  hint: ${hint}`)
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error && !message.includes(cause.message)) lines.push(`  cause: ${cause.message}`)
  if (requestId !== undefined) lines.push(`  request: ${requestId}`)
  const isUnexpected = kind === 'unknown' || context.isVerbose === true
  if (isUnexpected && error instanceof Error && error.stack) lines.push(stackLines(error.stack))
  return `${lines.join('\n')}\n`
}

/** `unknown` stands for an error without an identifier. */
const isDocumented = (kind: string): boolean =>
  kind !== 'unknown' && (Object.hasOwn(ERRORS, kind) || Object.hasOwn(START_ERRORS, kind))

function messageOf(error: unknown, { serverUrl }: ErrorContext): string {
  if (isClientError(error) && error.code === 'network-failed') {
    return `cannot reach ${serverUrl ?? 'the server'}, or the connection was lost`
  }
  return error instanceof Error ? error.message : String(error)
}

function hintOf(error: unknown, { serverUrl = '' }: ErrorContext): string | undefined {
  if (isClientError(error) && error.code === 'network-failed') {
    return 'start the server with perdure dev or perdure server, or select another one with --url, PERDURE_URL or perdure context use'
  }
  if (isClientError(error) && error.code === 'auth-required') {
    return 'pass a token with --token, PERDURE_TOKEN or perdure context add; create one with perdure token create'
  }
  if (isClientError(error) && error.code === 'route-not-found') {
    const base = URL.canParse(serverUrl) ? new URL('/v1', serverUrl).href : 'http://127.0.0.1:8080/v1'
    return `include the base path in the server URL (server.basePath, by default /v1), like ${base}`
  }
  const hint = (error as { hint?: unknown } | undefined)?.hint
  return typeof hint === 'string' ? hint : undefined
}

/** `auth.pepperRef (perdure.config.ts:7)`. */
function locationText(error: StartError, { config }: ErrorContext): string | undefined {
  const field = fieldOf(error)
  if (field === undefined) return undefined
  const location = config === undefined ? undefined : locationOfField(config, field)
  return location === undefined ? field : `${field} (${location})`
}

function identifierOf(error: unknown): string {
  if (isRefusal(error)) return error.code
  if (isClientError(error)) return error.code
  const { code, kind } = (error ?? {}) as { code?: unknown; kind?: unknown }
  const id = [code, kind].find((value) => typeof value === 'string' && value !== '')
  return typeof id === 'string' ? id : 'unknown'
}

/** commander writes `error: …` and puts its suggestion on a second line. */
function usageReport({ message }: CommanderError, { command }: ErrorContext): ErrorReport {
  const [first = '', suggestion] = message.replace(/^error: /, '').split('\n')
  const hint =
    suggestion?.replace(/^\((.*)\)$/, '$1') ?? `run perdure ${command === undefined ? '' : `${command} `}--help`
  return { error: 'usage', kind: 'usage', message: withoutFlagValue(first), hint }
}

/** `unknown option '--tokn=…'` without the value, which may be a secret. */
const withoutFlagValue = (message: string): string => message.replace(/^(unknown option '-[^=]*)=.*'$/s, "$1'")

const stackLines = (stack: string): string =>
  stack
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n')
