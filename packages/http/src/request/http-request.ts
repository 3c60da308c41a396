/** What is read of a request. A `Request` has it; so has what the listener makes, which loads nothing of `fetch`. */
export interface HttpRequest extends Pick<Request, 'method' | 'url' | 'arrayBuffer'> {
  readonly body: { getReader(): ReadableStreamDefaultReader<Uint8Array> } | null
  readonly headers: Pick<Headers, 'get'>
}
