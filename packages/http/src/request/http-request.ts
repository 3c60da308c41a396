/** The subset of `Request` that the app reads. The listener implements it without loading `fetch`. */
export interface HttpRequest extends Pick<Request, 'method' | 'url' | 'arrayBuffer'> {
  readonly bodyUsed?: boolean
  readonly body: { getReader(): ReadableStreamDefaultReader<Uint8Array> } | null
  readonly headers: Pick<Headers, 'get'>
}
