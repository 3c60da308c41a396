import {
  CLOSE_CODES,
  OPERATIONS,
  type Operation,
  protocolOf,
  REPLAY_GAP,
  type ResponseSpec,
  RPC_CODES,
  RUN_ENDING_EVENTS,
  SUBJECTS,
  SUBPROTOCOL,
  TICKET_PREFIX,
} from '@perdure/protocol'

/**
 * The module of `@perdure/client` with the protocol tables it needs at run time: method, path and flags of each
 * operation, without the schemas, so that a browser loads no validation library.
 */
export function clientTables(): string {
  const groups = Object.groupBy(OPERATIONS.filter(isCallable), ({ id }) => id.replace(/\..*$/, ''))
  const routes = Object.entries(groups).flatMap(([group, operations = []]) => [
    `  ${group}: {`,
    ...operations.map((operation) => `    ${methodName(operation)}: ${literal(routeOf(operation))},`),
    '  },',
  ])
  return [
    '// Derived from the tables of @perdure/protocol by `pnpm derive`; not edited by hand.',
    "import type { CloseName } from '@perdure/protocol'",
    "import type { RouteTable } from './route.ts'",
    '',
    `export const SUBPROTOCOL = ${literal(SUBPROTOCOL)}`,
    `export const TICKET_PREFIX = ${literal(TICKET_PREFIX)}`,
    `export const REPLAY_GAP = ${literal(REPLAY_GAP)}`,
    '',
    '/** Types of the events that end a run: nothing follows them on the subject of the run. */',
    `export const RUN_ENDING_EVENTS: readonly string[] = ${literal([...RUN_ENDING_EVENTS])}`,
    '',
    '/** Why the server closes a WebSocket, by code. */',
    'export const CLOSE_NAMES: Readonly<Record<number, CloseName>> = {',
    ...Object.entries(CLOSE_CODES).map(([name, { code }]) => `  ${code}: ${literal(name)},`),
    '}',
    '',
    '/** Errors of the WebSocket methods, by code. */',
    'export const RPC_NAMES: Readonly<Record<number, string>> = {',
    ...Object.entries(RPC_CODES).map(([name, { code }]) => `  '${code}': ${literal(name)},`),
    '}',
    '',
    '/** The subjects that can be followed over Server-Sent Events, with the path of their stream. */',
    'export const EVENT_STREAMS: Readonly<Record<string, string>> = {',
    ...eventStreams().map(([pattern, path]) => `  ${literal(pattern)}: ${literal(path)},`),
    '}',
    '',
    '// biome-ignore format: a table is read by its rows',
    'export const ROUTES = {',
    ...routes,
    '} as const satisfies RouteTable',
    '',
  ].join('\n')
}

const answersOf = ({ responses }: Operation) => Object.values<ResponseSpec>(responses)

/**
 * Event streams have no client method, and neither has what only other services send; they are followed through a subscription. The operations of other protocols have
 * clients of their own.
 */
const isCallable = (operation: Operation) =>
  protocolOf(operation) === undefined &&
  operation.takesRaw !== true &&
  (answersOf(operation).some(({ schema, stream }) => schema !== undefined || stream === undefined) ||
    answersOf(operation).every(({ stream }) => stream !== 'event-stream' && stream !== 'websocket'))

/** `agents.stream` of the client yields events, so the call that only starts the run has a name of its own. */
const methodName = ({ id }: Operation) =>
  id === 'agents.stream'
    ? 'start'
    : id.replace(/^.*?\./, '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

function routeOf(operation: Operation): Readonly<Record<string, unknown>> {
  const { id, method, path, body, query, idempotent, takesFile } = operation
  if (body !== undefined && query !== undefined) throw new Error(`${id} has both a body and a query`)
  const answers = answersOf(operation)
  const refusalsAsData = Object.keys(operation.responses)
    .map(Number)
    .filter((status) => status >= 400)
  return {
    method,
    path,
    ...(body === undefined ? {} : { input: 'body' }),
    ...(query === undefined ? {} : { input: 'query' }),
    ...(takesFile === true ? { takesFile: true } : {}),
    ...(idempotent ? { isKeyed: true } : {}),
    ...(query !== undefined && 'entries' in query && hasCursor(query.entries) ? { isList: true } : {}),
    ...(answers.some(({ schema }) => schema) || answers.every(({ stream }) => !stream) ? {} : { isRaw: true }),
    ...(refusalsAsData.length === 0 ? {} : { alsoAnswers: refusalsAsData }),
  }
}

const hasCursor = (entries: unknown) => typeof entries === 'object' && entries !== null && 'cursor' in entries

function eventStreams(): (readonly [pattern: string, path: string])[] {
  const pathOf = (id: string) => OPERATIONS.find((operation) => operation.id === id)?.path ?? ''
  return Object.entries(SUBJECTS).flatMap(([name, { pattern }]) => {
    if (pattern.includes('{runId}')) return [[pattern, pathOf('runs.events')] as const]
    return name === 'session' ? [[pattern, pathOf('sessions.events')] as const] : []
  })
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value === 'string') return `'${value.replaceAll("'", "\\'")}'`
  if (typeof value !== 'object' || value === null) return String(value)
  return `{ ${Object.entries(value)
    .map(([key, one]) => `${key}: ${literal(one)}`)
    .join(', ')} }`
}
