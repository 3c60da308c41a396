import { randomBytes } from 'node:crypto'
import { connect as connectTo, type Socket } from 'node:net'
import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger } from '@perdure/ports'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer } from '../create-server.ts'
import type { PerdureServer } from '../perdure-server.ts'
import { decodeFrames, encodeFrame, type RawFrame, type ServerFrame, textFrame } from './raw-frames.fixture.ts'
import { connect } from './web-socket-client.fixture.ts'

const FRAMES = Number(process.env.WS_FUZZ_FRAMES ?? 10_000)
const FRAMES_PER_CONNECTION = 10
const ALLOWED = new Set([1002, 1003, 1007, 1009, 4005, 4008])

const errors: unknown[] = []
const logger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (...said) => errors.push(said),
}

let server: PerdureServer
let url: string
let port: number

beforeAll(async () => {
  server = await createServer({
    config: { auth: { kind: 'none' }, server: { port: 0, rateLimit: { perIpRequests: 1_000_000 } } },
    adapters: { storage: createInMemoryStorage(), logger },
  })
  const started = await server.start()
  port = started.port
  url = `http://${started.host}:${port}${started.basePath}`
})
afterAll(() => server.stop({ force: true }))

const initialize = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'
const asBytes = (text: string): Uint8Array => Buffer.from(text)
const ping = '{"jsonrpc":"2.0","id":2,"method":"ping"}'
const payload = fc.oneof(
  { arbitrary: fc.constantFrom(initialize, ping, '{', '[]', '').map(asBytes), weight: 12 },
  { arbitrary: fc.json().map(asBytes), weight: 8 },
  { arbitrary: fc.uint8Array({ maxLength: 200 }), weight: 1 },
  { arbitrary: fc.constantFrom(65_536, 65_537, 70_000).map((length) => new Uint8Array(length).fill(0x20)), weight: 1 },
)
const mostly = <T>(usual: T, other: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: fc.constant(usual), weight: 30 }, { arbitrary: other, weight: 1 })

const frame: fc.Arbitrary<RawFrame> = fc.record({
  fin: mostly(true, fc.boolean()),
  rsv: mostly(0, fc.integer({ min: 0, max: 7 })),
  opcode: mostly(1, fc.integer({ min: 0, max: 15 })),
  isMasked: mostly(true, fc.boolean()),
  payload,
  announced: mostly<number | undefined>(undefined, fc.integer({ min: 0, max: 2 ** 31 })),
})

/** The last message of an attack: answered if the connection is still open. */
const MARK = '{"jsonrpc":"2.0","id":"last","method":"ping"}'

/**
 * Sends the frames on a new socket, and returns the frames received until the server closes the socket or answers the
 * last message.
 */
async function attack(frames: readonly RawFrame[]): Promise<readonly ServerFrame[]> {
  const socket: Socket = connectTo(port, '127.0.0.1')
  socket.on('error', () => undefined)
  const chunks: Buffer[] = []
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const opened = Promise.withResolvers<void>()
  const marked = Promise.withResolvers<void>()
  let head = ''
  socket.on('data', (chunk: Buffer) => {
    if (head.includes('\r\n\r\n')) {
      chunks.push(chunk)
      const isOver = ({ opcode, body }: ServerFrame) => opcode === 8 || body.includes('"last"')
      if (decodeFrames(Buffer.concat(chunks)).some(isOver)) marked.resolve()
      return
    }
    head += chunk.toString('latin1')
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) return
    chunks.push(Buffer.from(head.slice(end + 4), 'latin1'))
    opened.resolve()
  })
  socket.write(
    `GET /v1/ws HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nSec-WebSocket-Version: 13\r\n` +
      'Sec-WebSocket-Protocol: svc.protocol.v1\r\n\r\n',
  )
  await opened.promise
  expect(head).toMatch(/^HTTP\/1.1 101 /)
  for (const one of frames) socket.write(encodeFrame(one))
  socket.write(encodeFrame(textFrame(MARK)))
  const isWhole = frames.every(({ announced }) => announced === undefined)
  if (isWhole) await Promise.race([ended, marked.promise])
  socket.end(encodeFrame({ ...textFrame(''), opcode: 8, payload: Buffer.from([0x03, 0xe8]) }))
  await ended
  return decodeFrames(Buffer.concat(chunks))
}

describe('a WebSocket server under fuzzing', () => {
  it('answers or closes with an allowed code, and keeps other connections working', async () => {
    const bystander = await connect(url)
    await bystander.initialize()
    const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
    // biome-ignore lint/suspicious/noConsole: the seed reproduces a failure
    console.log(`seed ${seed}`)
    const all = fc.sample(frame, { numRuns: FRAMES, seed })
    const codes = new Map<number, number>()
    let answers = 0

    for (let start = 0; start < all.length; start += FRAMES_PER_CONNECTION) {
      for (const { opcode, body } of await attack(all.slice(start, start + FRAMES_PER_CONNECTION))) {
        if (opcode === 8 && body.length >= 2) {
          const code = body.readUInt16BE(0)
          // The server echoes the client's own close code.
          if (code !== 1000) codes.set(code, (codes.get(code) ?? 0) + 1)
        }
        if (opcode === 1) answers++
      }
    }

    // biome-ignore lint/suspicious/noConsole: summary of the run
    console.log(`${all.length} frames, ${answers} answers, closed ${JSON.stringify([...codes])}`)
    expect([...codes.keys()].filter((code) => !ALLOWED.has(code))).toEqual([])
    expect([...codes.keys()]).toEqual(expect.arrayContaining([1002, 1007, 1009, 4008]))
    expect(answers).toBeGreaterThan(FRAMES / 10)
    expect(errors).toEqual([])
    expect((await bystander.call('ping')).result).toBeDefined()
    bystander.socket.close()
    await bystander.closed
  }, 3_600_000)
})
