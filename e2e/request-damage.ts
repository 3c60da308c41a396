import type { Forged } from './request-forge.ts'

export interface Damaged {
  readonly bytes: Buffer
  /** Whether method, target and framing arrive as intended. */
  readonly isIntact: boolean
}

export interface Wire {
  readonly host: string
  readonly token: string
}

interface Head {
  method: string
  target: string
  version: string
  fields: [string, string][]
  end: string
}

type Random = () => number
type Damage = (head: Head, body: Buffer, random: Random) => Buffer

/** Serializes a request and damages one in three. */
export function toBytes(forged: Forged, { host, token }: Wire, random: Random): Damaged {
  const body = Buffer.from(forged.body)
  const named = new Set(forged.headers.map(([name]) => name))
  const head: Head = {
    method: forged.endpoint.method,
    target: Buffer.from(forged.target).toString('latin1'),
    version: 'HTTP/1.1',
    fields: [
      ['Host', host],
      ...(named.has('Authorization') ? [] : [['Authorization', `Bearer ${token}`] as [string, string]]),
      ...forged.headers.map(([name, value]) => [name, Buffer.from(value).toString('latin1')] as [string, string]),
      ...framing(body, random),
    ],
    end: '\r\n',
  }
  if (random() < 2 / 3) return { bytes: write(head, body), isIntact: true }
  const damage = DAMAGES[Math.floor(random() * DAMAGES.length)] as Damage
  return { bytes: damage(head, body, random), isIntact: false }
}

const framing = (body: Buffer, random: Random): [string, string][] =>
  body.length === 0 && random() < 0.5
    ? []
    : [
        ['Content-Type', random() < 0.97 ? 'application/json' : 'text/plain'],
        ['Content-Length', String(body.length)],
      ]

const write = ({ method, target, version, fields, end }: Head, body: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`${method} ${target} ${version}${end}`, 'latin1'),
    Buffer.from(fields.map(([name, value]) => `${name}: ${value}${end}`).join('') + end, 'latin1'),
    body,
  ])

const below = (random: Random, limit: number) => Math.floor(random() * limit)
const pick = <T>(random: Random, items: readonly T[]): T => items[below(random, items.length)] as T

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'PRI',
  'get',
  'GE T',
  'Ü',
  '',
]
const TARGETS = [
  '*',
  '/',
  '//',
  '/v1',
  '/v1/',
  '/v1//agents',
  '/v1/../v1/agents',
  '/V1/agents',
  'http://evil.example/v1/agents',
  '/v1/agents#x',
  '/v1/agents?',
  `/${'a'.repeat(9_000)}`,
  '/v1/%2e%2e/agents',
  '\\v1',
  '/v1/agents\x00',
  '/v1/agents\xff',
]
const FIELDS: readonly [string, string][] = [
  ['Host', 'evil.example'],
  ['Content-Length', '5'],
  ['Content-Length', '-1'],
  ['Content-Length', '1e3'],
  ['Transfer-Encoding', 'chunked'],
  ['Transfer-Encoding', 'xchunked'],
  ['Transfer-Encoding', 'gzip, chunked'],
  ['Connection', 'close'],
  ['Connection', 'Upgrade, HTTP2-Settings'],
  ['Authorization', 'Bearer x'],
  ['Content-Type', 'application/json; charset=utf-16'],
  ['Content-Type', 'application/json'],
  ['', 'x'],
  ['X Y', 'x'],
  ['X\x00Y', 'x'],
  ['X', '\x00'],
  ['X', '\x7f\xff'],
  ['X', 'a\r\n b'],
  ['X', 'x'.repeat(20_000)],
]

/** Functions that each damage a request in one way and return the resulting bytes. */
const DAMAGES: readonly Damage[] = [
  (head, body, random) => flip(write(head, body), random),
  (head, body, random) => {
    const bytes = write(head, body)
    return bytes.subarray(0, below(random, bytes.length))
  },
  (head, body, random) => {
    const bytes = write(head, body)
    const at = below(random, bytes.length)
    const noise = Buffer.from(Array.from({ length: 1 + below(random, 8) }, () => below(random, 256)))
    return Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at)])
  },
  (head, body, random) => write({ ...head, method: pick(random, METHODS) }, body),
  (head, body, random) => write({ ...head, target: pick(random, TARGETS) }, body),
  (head, body, random) =>
    write({ ...head, version: pick(random, ['HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1.1 x', 'http/1.1', '']) }, body),
  (head, body) => write({ ...head, end: '\n' }, body),
  (head, body, random) => {
    const fields = [...head.fields]
    fields.splice(below(random, fields.length + 1), 0, pick(random, FIELDS))
    return write({ ...head, fields }, body)
  },
  (head, body, random) => {
    const gone = below(random, head.fields.length)
    return write({ ...head, fields: head.fields.filter((_, index) => index !== gone) }, body)
  },
  (head, body, random) => {
    const again = pick(random, head.fields)
    return write({ ...head, fields: [...head.fields, again] }, body)
  },
  (head, body, random) => {
    const fields = Array.from({ length: pick(random, [90, 101, 2_000]) }, (_, n) => [`X-${n}`, 'v'] as [string, string])
    return write({ ...head, fields: [...head.fields, ...fields] }, body)
  },
  (head, body, random) => {
    const fields = head.fields.filter(([name]) => name !== 'Content-Length')
    return write({ ...head, fields: [...fields, ['Transfer-Encoding', 'chunked']] }, chunked(body, random))
  },
  (head, body, random) => flip(Buffer.concat([body, write(head, body)]), random),
]

function flip(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes)
  for (let times = 1 + below(random, 4); times > 0 && copy.length > 0; times--) {
    copy[below(random, copy.length)] = below(random, 256)
  }
  return copy
}

/** Encodes the body in chunks, sometimes with wrong sizes. */
function chunked(body: Buffer, random: Random): Buffer {
  const size = pick(random, [
    body.length.toString(16),
    body.length.toString(16).toUpperCase(),
    `${body.length.toString(16)};ext=1`,
    (body.length + 1).toString(16),
    '0',
    '-1',
    'ffffffffffffffff',
    '0x5',
    'g',
  ])
  const end = pick(random, ['0\r\n\r\n', '0\r\nX-Trailer: y\r\n\r\n', '0\r\n', '', '0\n\n'])
  return Buffer.concat([Buffer.from(`${size}\r\n`), body, Buffer.from(`\r\n${end}`)])
}
