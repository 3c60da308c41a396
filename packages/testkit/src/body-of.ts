/** The members of an answer; a refusal of another protocol has the members of an error of the API. */
export async function bodyOf(response: Response): Promise<Record<string, unknown>> {
  const type = response.headers.get('content-type') ?? ''
  const text = await response.text()
  if (type.startsWith('text/plain')) return ofText(text, response)
  return type.startsWith('application/json') && text !== '' ? flat(JSON.parse(text)) : {}
}

/** An error in the text form of the AI SDK. */
function ofText(text: string, { headers }: Response): Record<string, unknown> {
  const [, message, error] = /^(.*) \(([a-zA-Z_-]+)\)/.exec(text) ?? []
  return error === undefined ? {} : { error, message, requestId: headers.get('x-request-id') }
}

/** An error of JSON-RPC or OpenAI has an object as `error`; any other one has its identifier there. */
function flat(body: Record<string, unknown>): Record<string, unknown> {
  if (typeof body.error !== 'object' || body.error === null) return body
  const { message, code, data } = body.error as RemoteError
  return { message, error: data?.code ?? code, requestId: data?.requestId ?? body.requestId }
}

interface RemoteError {
  readonly message: unknown
  readonly code: unknown
  readonly data?: Record<string, unknown>
}
