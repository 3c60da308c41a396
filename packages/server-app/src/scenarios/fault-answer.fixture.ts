import { ERRORS, type ErrorCode, errorsOf, type Operation } from '@perdure/protocol'
import { bodyOf } from '@perdure/testkit'

/** The fields of an answer's body that the tests read. */
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

/** Reads the complete answer, or the first chunk of an event stream. */
export async function read(response: Response): Promise<Seen> {
  const { status, headers, body } = response
  const type = headers.get('content-type') ?? ''
  if (type.startsWith('text/event-stream') && body !== null) {
    const reader = body.getReader()
    await reader.read()
    void reader.cancel()
    return { status, json: {} }
  }
  return { status, json: await bodyOf(response) }
}

/** Describes an answer that the operation does not declare; `undefined` if the answer is declared. */
export function problemOf(operation: Operation, { status, json }: Seen): string | undefined {
  if (operation.responses[status] !== undefined) return undefined
  const code = String(json.error) as ErrorCode
  const isDeclared = errorsOf(operation).includes(code) && ERRORS[code].status === status
  if (isDeclared && code !== 'internal-error') return undefined
  return `${operation.id} answered ${status} ${JSON.stringify(json)}`
}
