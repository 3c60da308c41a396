import { ERRORS, type ErrorCode, errorsOf, type Operation } from '@perdure/protocol'

/** What the tests read of an answer's body. */
export interface SeenBody {
  readonly id?: string
  readonly runId?: string
  readonly status?: string
  readonly error?: unknown
  readonly approvals?: readonly { readonly id: string }[]
  readonly items?: readonly { readonly id: string }[]
}

export interface Seen {
  readonly status: number
  readonly json: SeenBody
}

/** The whole answer; of a stream what comes first. */
export async function read(response: Response): Promise<Seen> {
  const { status, headers, body } = response
  const type = headers.get('content-type') ?? ''
  if (type.startsWith('text/event-stream') && body !== null) {
    const reader = body.getReader()
    await reader.read()
    void reader.cancel()
    return { status, json: {} }
  }
  const text = await response.text()
  return { status, json: type.startsWith('application/json') && text !== '' ? JSON.parse(text) : {} }
}

/** What is wrong with an answer, if anything is. */
export function problemOf(operation: Operation, { status, json }: Seen): string | undefined {
  if (operation.responses[status] !== undefined) return undefined
  const code = String(json.error) as ErrorCode
  const isDeclared = errorsOf(operation).includes(code) && ERRORS[code].status === status
  if (isDeclared && code !== 'internal-error') return undefined
  return `${operation.id} answered ${status} ${JSON.stringify(json)}`
}
