import {
  AGENT_EVENT_SUBJECTS,
  CLOSE_CODES,
  ErrorFrame,
  EVENT_TYPE,
  EVENTS,
  EventEnvelope,
  EventFrame,
  type EventSpec,
  OPERATIONS,
  REPLAY_GAP,
  ReplayGap,
  RPC_CODES,
  RPC_METHODS,
  RpcErrorFrame,
  type RpcMethodSpec,
  SUBJECTS,
  SUBPROTOCOL,
  type SubjectName,
  scopesOfSubject,
  TICKET_PREFIX,
} from '@perdure/protocol'
import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'

export interface AsyncApiOptions {
  readonly basePath: string
  readonly version: string
}

type Json = Readonly<Record<string, unknown>>

/**
 * Builds the AsyncAPI 3.0 document: the WebSocket with its methods, every subject with its events, and the Server-Sent
 * Events streams. Its operations are described from the server's perspective: the server receives requests and sends
 * events.
 */
export function buildAsyncApi({ basePath, version }: AsyncApiOptions): Json {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Perdure',
      version,
      description: 'The events of a standalone durable agent server, over WebSocket and Server-Sent Events.',
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    servers: { websocket: server('ws', basePath), 'event-stream': server('http', basePath) },
    channels: { socket: SOCKET, ...subjectChannels(), ...streamChannels() },
    operations: { ...methodOperations(), ...subjectOperations(), ...streamOperations() },
    components: {
      schemas: { EventEnvelope: schemaOf(EventEnvelope), EventFrame: schemaOf(EventFrame) },
      messages: { ...methodMessages(), ...eventMessages() },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        ticket: {
          type: 'httpApiKey',
          in: 'header',
          name: 'Sec-WebSocket-Protocol',
          description: `${TICKET_PREFIX}<value>, offered together with ${SUBPROTOCOL}. Lets a page authenticate a WebSocket.`,
        },
      },
    },
  }
}

const ref = (path: string): Json => ({ $ref: `#/${path}` })
const messageRef = (name: string): Json => ref(`components/messages/${name}`)
const serverRef = (name: string): Json => ref(`servers/${name}`)

const server = (protocol: 'ws' | 'http', basePath: string): Json => ({
  host: '{host}',
  pathname: basePath,
  protocol,
  ...(protocol === 'ws' ? { protocolVersion: '13' } : {}),
  variables: { host: { default: '127.0.0.1:8080', description: 'Address the server listens on.' } },
  security: [
    ref('components/securitySchemes/bearer'),
    ...(protocol === 'ws' ? [ref('components/securitySchemes/ticket')] : []),
  ],
})

const METHODS = Object.entries<RpcMethodSpec>(RPC_METHODS)
const EVENT_ROWS = Object.entries<EventSpec>(EVENTS)
const SUBJECT_ROWS = Object.entries(SUBJECTS) as [SubjectName, (typeof SUBJECTS)[SubjectName]][]

const SOCKET: Json = {
  address: '/ws',
  title: 'WebSocket',
  description: `Speaks ${SUBPROTOCOL}: JSON-RPC 2.0 requests from the client, without batches, and frames pushed by the server.`,
  servers: [serverRef('websocket')],
  messages: Object.fromEntries(
    METHODS.flatMap(([method]) => [
      [requestName(method), messageRef(requestName(method))],
      [resultName(method), messageRef(resultName(method))],
    ]).concat([['rpcError', messageRef('rpcError')]]),
  ),
  bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
  'x-perdure-close-codes': CLOSE_CODES,
  'x-perdure-rpc-codes': RPC_CODES,
}

/** `subscription.subscribe` → `subscriptionSubscribe`. */
function nameOf(dotted: string): string {
  return dotted.replace(/[.-](\w)/g, (_, letter: string) => letter.toUpperCase())
}

function requestName(method: string): string {
  return `${nameOf(method)}Request`
}

function resultName(method: string): string {
  return `${nameOf(method)}Result`
}

const rpcMessage = (name: string, payload: Json): Json => ({ name, contentType: 'application/json', payload })

function methodMessages(): Json {
  const rpcObject = (required: readonly string[], properties: Json): Json => ({
    type: 'object',
    required: ['jsonrpc', 'id', ...required],
    properties: { jsonrpc: { const: '2.0' }, id: { type: ['string', 'integer'] }, ...properties },
  })
  const rows = METHODS.flatMap(([method, { params, result, summary }]) => {
    const request = rpcObject(['method'], { method: { const: method }, params: schemaOf(params, 'input') })
    const answer = rpcObject(['result'], { result: schemaOf(result) })
    return [
      [requestName(method), { ...rpcMessage(method, request), summary }],
      [resultName(method), rpcMessage(`${method} result`, answer)],
    ]
  })
  return { ...Object.fromEntries(rows), rpcError: rpcMessage('rpcError', schemaOf(RpcErrorFrame)) }
}

function methodOperations(): Json {
  const operations = METHODS.map(([method, { summary }]) => [
    nameOf(method),
    {
      action: 'receive',
      channel: ref('channels/socket'),
      summary,
      messages: [ref(`channels/socket/messages/${requestName(method)}`)],
      reply: {
        channel: ref('channels/socket'),
        messages: [ref(`channels/socket/messages/${resultName(method)}`), ref('channels/socket/messages/rpcError')],
      },
    },
  ])
  return Object.fromEntries(operations)
}

const envelopeOf = (members: Json): Json => ({
  allOf: [ref('components/schemas/EventEnvelope'), { type: 'object', properties: members }],
})

function eventMessages(): Json {
  const rows = EVENT_ROWS.map(([type, { payload, summary, emittedBy, sanitized }]) => [
    nameOf(type),
    {
      name: type,
      summary,
      contentType: 'application/json',
      payload: envelopeOf({ type: { const: type }, payload: schemaOf(payload) }),
      'x-perdure-emitted-by': emittedBy,
      ...(sanitized === true ? { 'x-perdure-sanitized': true } : {}),
    },
  ])
  return {
    ...Object.fromEntries(rows),
    agentEvent: {
      name: 'agentEvent',
      summary: 'Any other event type that an agent emits.',
      contentType: 'application/json',
      payload: envelopeOf({ type: { type: 'string', pattern: EVENT_TYPE.source } }),
    },
    replayGap: {
      name: REPLAY_GAP,
      summary: 'Events after the cursor are no longer available. Sent before the remaining events.',
      contentType: 'application/json',
      payload: {
        allOf: [
          schemaOf(ErrorFrame),
          { type: 'object', properties: { code: { const: REPLAY_GAP }, data: schemaOf(ReplayGap) } },
        ],
      },
    },
  }
}

/** Names of the messages on a subject. */
function carriedBy(subject: SubjectName): string[] {
  const types = EVENT_ROWS.filter(([, { subjects }]) => subjects.includes(subject)).map(([type]) => nameOf(type))
  return [...types, ...(AGENT_EVENT_SUBJECTS.includes(subject) ? ['agentEvent'] : []), 'replayGap']
}

const parametersOf = (address: string): Json => {
  const names = [...address.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return names.length === 0 ? {} : { parameters: Object.fromEntries(names.map((name) => [name, {}])) }
}

const messagesOf = (subject: SubjectName): Json =>
  Object.fromEntries(carriedBy(subject).map((name) => [name, messageRef(name)]))

function subjectChannels(): Json {
  const channels = SUBJECT_ROWS.map(([name, { pattern, summary }]) => [
    name,
    {
      address: pattern,
      summary,
      description: `Subscribe over the WebSocket; frames also carry v, kind and subscriptionId. Requires the scope ${scopesOfSubject(
        name,
      )
        .map((scope) => `\`${scope}\``)
        .join(' or ')}.`,
      servers: [serverRef('websocket')],
      ...parametersOf(pattern),
      messages: messagesOf(name),
    },
  ])
  return Object.fromEntries(channels)
}

function sendOperation(channel: string, summary: string): Json {
  return { action: 'send', channel: ref(`channels/${channel}`), summary }
}

function subjectOperations(): Json {
  const operations = SUBJECT_ROWS.map(([name, { summary }]) => [
    `push${upperFirst(name)}`,
    sendOperation(name, summary),
  ])
  return Object.fromEntries(operations)
}

/** GET operations that stream events, with the subject of those events. */
const STREAMS = OPERATIONS.filter(
  ({ method, responses }) => method === 'GET' && responses[200]?.stream === 'event-stream',
).map((operation) => ({
  ...operation,
  channel: `${nameOf(operation.id)}Stream`,
  subject: (operation.path.includes(':runId') ? 'agentRun' : 'session') as SubjectName,
}))

function streamChannels(): Json {
  const channels = STREAMS.map(({ channel, path, summary, subject }) => {
    const address = path.replace(/:(\w+)/g, '{$1}')
    return [
      channel,
      {
        address,
        summary,
        description: 'Server-Sent Events with id, event, and the envelope as data. Last-Event-ID resumes the stream.',
        servers: [serverRef('event-stream')],
        ...parametersOf(address),
        messages: messagesOf(subject),
      },
    ]
  })
  return Object.fromEntries(channels)
}

function streamOperations(): Json {
  return Object.fromEntries(
    STREAMS.map(({ channel, summary }) => [`push${upperFirst(channel)}`, sendOperation(channel, summary)]),
  )
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Converts to JSON Schema draft 7, AsyncAPI's default dialect. Omits checks that JSON Schema cannot express. */
function schemaOf(schema: GenericSchema, typeMode: 'input' | 'output' = 'output'): Json {
  const { $schema: _, ...rest } = toJsonSchema(schema, { target: 'draft-07', typeMode, errorMode: 'ignore' })
  return rest
}
