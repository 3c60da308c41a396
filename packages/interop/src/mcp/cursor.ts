import type { RpcId } from './json-rpc.ts'

/** Where a client stopped reading the answer to a request. It names the run, so any process of the server can resume. */
export interface Cursor {
  readonly runId: string
  readonly requestId: RpcId
  readonly progressToken?: RpcId | undefined
  /** The id of the last frame. */
  readonly frameId: string
}

/** `<run>~<request>~<progress token, if any>~<frame>`. */
export const formatCursor = ({ runId, requestId, progressToken, frameId }: Cursor): string =>
  [runId, formatId(requestId), progressToken === undefined ? '' : formatId(progressToken), frameId].join('~')

/** `undefined` for everything that the server has not sent. */
export function parseCursor(text: string): Cursor | undefined {
  const [runId = '', request = '', progress = '', frameId = '', ...more] = text.split('~')
  const requestId = parseId(request)
  const progressToken = progress === '' ? undefined : parseId(progress)
  const isValid = runId !== '' && frameId !== '' && more.length === 0 && text.length <= MAX_LENGTH
  return requestId === undefined || !isValid ? undefined : { runId, requestId, progressToken, frameId }
}

const MAX_LENGTH = 1_024

const formatId = (id: RpcId): string =>
  typeof id === 'number' ? `i${id}` : `s${encodeURIComponent(id).replaceAll('~', '%7E')}`

function parseId(text: string): RpcId | undefined {
  const rest = text.slice(1)
  if (text.startsWith('s')) return unescaped(rest)
  const number = text.startsWith('i') && /^-?[\d.e+]+$/.test(rest) ? Number(rest) : Number.NaN
  return Number.isFinite(number) ? number : undefined
}

function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
