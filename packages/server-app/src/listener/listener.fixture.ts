import { subscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { HttpEnv, HttpRequest } from '@perdure/http'
import type { Logger } from '@perdure/ports'
import { expect, onTestFinished } from 'vitest'
import { type Answering, type Listener, type ListenerLimits, listen } from './listener.ts'

export const LIMITS: ListenerLimits = {
  trustProxy: 0,
  maxConnections: 10_000,
  maxConnectionsPerAddress: 10_000,
  writeTimeoutMs: 30_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  headerLimitBytes: 16_384,
  maxHeaders: 100,
}

export const echo: Answering['answer'] = async (request) => {
  const text = JSON.stringify({ method: request.method, url: request.url, sent: await textOf(request) })
  return { status: 200, headers: { 'Content-Length': String(Buffer.byteLength(text)) }, text }
}

export const textOf = async (request: HttpRequest) => new TextDecoder().decode(await request.arrayBuffer())

const ignore = () => undefined
export const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

export async function open(
  answer: Answering['answer'] = echo,
  limits: Partial<ListenerLimits> = {},
  onUpgrade?: Answering['onUpgrade'],
): Promise<Listener> {
  const listener = await listen({ answer, onUpgrade, logger }, { host: '127.0.0.1', port: 0, ...LIMITS, ...limits })
  onTestFinished(() => listener.close(0))
  return listener
}

const RESPONSES = new WeakMap<object, ServerResponse>()
subscribe('http.server.request.start', (message) => {
  const { request, response } = message as { readonly request: object; readonly response: ServerResponse }
  RESPONSES.set(request, response)
})

/** Node's object for the answer to a request. */
export const outgoingOf = ({ incoming = {} }: HttpEnv = {}): ServerResponse | undefined => RESPONSES.get(incoming)

/** Opens a connection for raw text. `received` resolves on close, with everything that the server has sent. */
export function dial({ port }: Listener) {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk
  })
  socket.on('error', () => undefined)
  const received = new Promise<string>((resolve) => socket.on('close', () => resolve(text)))
  return { socket, received, soFar: () => text }
}

/** Sends one request on a connection of its own, and returns its answer. */
export async function send(listener: Listener, lines: readonly string[], body = ''): Promise<ReceivedAnswer> {
  const { socket, received } = dial(listener)
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1')
  return parse(await received)
}

interface ReceivedAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

export function parse(text: string): ReceivedAnswer {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const [statusLine = '', ...fields] = head.split('\r\n')
  const headers = new Headers(fields.map((field) => field.split(': ', 2) as [string, string]))
  return { status: Number(statusLine.split(' ')[1]), headers, body }
}

export function expectRefusal({ status, headers, body }: ReceivedAnswer, [expected, error]: [number, string]) {
  expect({ status, ...JSON.parse(body) }).toEqual({
    status: expected,
    error,
    message: expect.stringMatching(/./),
    requestId: headers.get('x-request-id'),
  })
  expect(headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]+$/)
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(headers.get('content-length')).toBe(String(Buffer.byteLength(body)))
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('connection')).toBe('close')
}

export const HOST = 'Host: 127.0.0.1'
export const CLOSE = 'Connection: close'
export const fields = (count: number) => Array.from({ length: count }, (_, n) => `X-${n}: v`)
