import { connect } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** The final answers that one connection received, in order, and whether the server closed it. */
export interface RawExchange {
  readonly answers: readonly RawAnswer[]
  readonly isClosed: boolean
  /** The text that the connection received after the complete answers. */
  readonly rest: string
}

export interface RawOptions {
  /** Closes the connection after this many complete answers; default: waits until the server closes it. */
  readonly answers?: number
  /** Closes the connection after this time; default: never. */
  readonly patienceMs?: number
}

/** Writes the bytes to a new connection. An event stream counts as complete once its head has arrived. */
export function exchange(
  port: number,
  bytes: Buffer,
  { answers: enough, patienceMs }: RawOptions = {},
): Promise<RawExchange> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const isHead = bytes.subarray(0, 5).toString('latin1').toUpperCase() === 'HEAD '
    let text = ''
    socket.on('error', () => undefined)
    const giveUp = () => {
      resolve({ ...parseAnswers(text, isHead), isClosed: false })
      socket.destroy()
    }
    const timer = patienceMs === undefined ? undefined : setTimeout(giveUp, patienceMs)
    socket.on('close', () => {
      clearTimeout(timer)
      resolve({ ...parseAnswers(text, isHead), isClosed: true })
    })
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk
      if (enough === undefined) return
      const { answers, rest } = parseAnswers(text, isHead)
      if (answers.length < enough) return
      resolve({ answers, rest, isClosed: false })
      socket.destroy()
    })
    socket.write(bytes)
  })
}

/** Returns the complete final answers at the start of a latin1 text, and the remaining text. One that is not HTTP has no status. */
export function parseAnswers(text: string, isHead = false): { answers: RawAnswer[]; rest: string } {
  const answers: RawAnswer[] = []
  let rest = text
  for (;;) {
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1) return { answers, rest }
    const head = rest.slice(0, end)
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? Number.NaN)
    if (Number.isNaN(status)) return { answers: [...answers, { status, head, body: '' }], rest: '' }
    const after = rest.slice(end + 4)
    const length = status < 200 || isHead ? 0 : bodyLength(status, head, after)
    if (length === undefined) return { answers, rest }
    if (Number.isNaN(length)) return { answers: [...answers, { status: length, head, body: after }], rest: '' }
    if (status >= 200 || status === 101) answers.push({ status, head, body: after.slice(0, length) })
    rest = after.slice(length)
  }
}

/** The length of the body with its framing, in characters; `undefined` while it is incomplete. */
function bodyLength(status: number, head: string, after: string): number | undefined {
  if (status === 204 || status === 304) return 0
  const length = /^content-length: *(\d+)/im.exec(head)?.[1]
  if (length !== undefined) return after.length >= Number(length) ? Number(length) : undefined
  if (/^content-type: text\/event-stream/im.test(head)) return after.length
  // To a request of HTTP/1.0, a body of unknown length ends with the connection.
  const isChunked = /^transfer-encoding: *chunked/im.test(head)
  return !isChunked && /^connection: *close/im.test(head) ? after.length : chunksLength(after)
}

/** The length of a chunked body, `NaN` for one that is malformed: up to the empty line behind the chunk of size 0. No server of ours sends trailers. */
function chunksLength(text: string): number | undefined {
  for (let at = 0; ; ) {
    const end = text.indexOf('\r\n', at)
    if (end === -1) return undefined
    const size = /^[\da-f]+/i.exec(text.slice(at, end))?.[0]
    if (size === undefined) return Number.NaN
    at = end + 2 + Number.parseInt(size, 16) + 2
    if (at > text.length) return undefined
    if (Number(`0x${size}`) === 0) return at
  }
}
