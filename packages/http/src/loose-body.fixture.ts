/** The loosely typed JSON body. An error in the text form of the AI SDK is shown in the same way. */
export async function bodyOf(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text()
  const [, message, error] = /^(.*) \(([a-zA-Z_-]+)\)/.exec(text) ?? []
  if (response.headers.get('content-type')?.startsWith('text/plain') !== true) return withoutRpc(JSON.parse(text))
  return error === undefined ? {} : { error, message, requestId: response.headers.get('x-request-id') }
}

/** A JSON-RPC error in the form of the other errors. */
function withoutRpc(body: Record<string, unknown>): Record<string, unknown> {
  if (body.jsonrpc === undefined || body.error === undefined) return body
  const { message, data } = body.error as { readonly message: string; readonly data?: Record<string, unknown> }
  return { message, error: data?.code, requestId: data?.requestId }
}
