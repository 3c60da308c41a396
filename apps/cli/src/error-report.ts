import { AppError, StartError } from '@perdure/ports'
import { ERRORS, START_ERRORS } from '@perdure/protocol'
import { CommanderError } from 'commander'
import { isClientError } from './client-error.ts'
import { fieldOf } from './config/field-of.ts'
import type { LoadedConfig } from './config/load-config.ts'
import { placeOfField } from './config/place-of-field.ts'

/** What stdout holds when a command with `--json` fails. `kind` repeats `error` for readers of start errors. */
export interface ErrorReport {
  readonly error: string
  readonly kind: string
  readonly message: string
  readonly hint?: string
  /** The configuration field, and where it stands. */
  readonly at?: string
  /** The page that explains the identifier, in docs/reference. */
  readonly docs?: string
  readonly requestId?: string
}

/** Where the command was when it failed. */
export interface ErrorPlace {
  readonly config?: LoadedConfig | undefined
  readonly serverUrl?: string | undefined
  readonly isVerbose?: boolean
}

export function reportOf(error: unknown, place: ErrorPlace = {}): ErrorReport {
  if (error instanceof CommanderError) return usageReport(error)
  const kind = identifierOf(error)
  const message = messageOf(error, place)
  const hint = hintOf(error, place)
  const at = error instanceof StartError ? placeText(error, place) : undefined
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

/** `error[<kind>]: message`, where, the hint, and the reason beneath; the stack of an error without an identifier. */
export function reportText(error: unknown, place: ErrorPlace = {}): string {
  const { kind, message, hint, at, docs, requestId } = reportOf(error, place)
  const lines = [`error[${kind}]: ${message}`]
  if (at !== undefined) lines.push(`  at ${at}`)
  if (hint !== undefined) lines.push(`  hint: ${hint}`)
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error && !message.includes(cause.message)) lines.push(`  cause: ${cause.message}`)
  if (requestId !== undefined) lines.push(`  request: ${requestId}`)
  if (docs !== undefined) lines.push(`  docs: perdure help ${docs}`)
  const isUnexpected = kind === 'unknown' || place.isVerbose === true
  if (isUnexpected && error instanceof Error && error.stack) lines.push(stackLines(error.stack))
  return `${lines.join('\n')}\n`
}

/** `unknown` is the lack of an identifier. */
const isDocumented = (kind: string): boolean =>
  kind !== 'unknown' && (Object.hasOwn(ERRORS, kind) || Object.hasOwn(START_ERRORS, kind))

function messageOf(error: unknown, { serverUrl }: ErrorPlace): string {
  if (isClientError(error) && error.error === 'network-failed') {
    return `${serverUrl ?? 'the server'} cannot be reached, or the connection broke off`
  }
  return error instanceof Error ? error.message : String(error)
}

function hintOf(error: unknown, { serverUrl = '' }: ErrorPlace): string | undefined {
  if (isClientError(error) && error.error === 'network-failed') {
    return 'start it with perdure dev or perdure server, or name another one: --url, PERDURE_URL, perdure context use <name>'
  }
  if (isClientError(error) && error.error === 'auth-required') {
    return 'give a token: --token, PERDURE_TOKEN, or perdure context add; make one with perdure token create'
  }
  if (isClientError(error) && error.error === 'route-not-found') {
    const base = URL.canParse(serverUrl) ? new URL('/v1', serverUrl).href : 'http://127.0.0.1:8080/v1'
    return `give the address of the server with its base path (server.basePath, /v1 unless it is configured), like ${base}`
  }
  const hint = (error as { hint?: unknown } | undefined)?.hint
  return typeof hint === 'string' ? hint : undefined
}

/** `auth.pepperRef (perdure.config.ts:7)`. */
function placeText(error: StartError, { config }: ErrorPlace): string | undefined {
  const field = fieldOf(error)
  if (field === undefined) return undefined
  const where = config === undefined ? undefined : placeOfField(config, field)
  return where === undefined ? field : `${field} (${where})`
}

function identifierOf(error: unknown): string {
  if (error instanceof AppError) return error.id
  if (isClientError(error)) return error.error
  const { code, kind } = (error ?? {}) as { code?: unknown; kind?: unknown }
  const id = [code, kind].find((value) => typeof value === 'string' && value !== '')
  return typeof id === 'string' ? id : 'unknown'
}

/** commander writes `error: …` and puts its proposal on a second line. */
function usageReport({ message }: CommanderError): ErrorReport {
  const [first = '', proposal] = message.replace(/^error: /, '').split('\n')
  const hint = proposal?.replace(/^\((.*)\)$/, '$1') ?? 'see perdure --help'
  return { error: 'usage', kind: 'usage', message: first, hint }
}

const stackLines = (stack: string): string =>
  stack
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n')
