import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { concatBytes, type RemoteFileLimits, type RemoteFiles } from '@perdure/ports'
import { checkConnection, isListed, messageOf, publicOnly } from './public-connection.ts'
import type { Resolve } from './resolve.ts'

export interface RemoteFilesOptions {
  /** Hosts whose addresses need not be public; with the port, unless it is the default port. */
  readonly allowHosts: readonly string[]
  /** Replaces the resolver of the operating system. */
  readonly resolve?: Resolve | undefined
}

const MAX_REDIRECTS = 5

/** Loads files over HTTP, with one connection for each request. */
export function createRemoteFiles({ allowHosts, resolve }: RemoteFilesOptions): RemoteFiles {
  const respond = (url: URL, signal: AbortSignal): Promise<IncomingMessage> => {
    const answered = Promise.withResolvers<IncomingMessage>()
    const isAllowed = isListed(allowHosts, url)
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    const request = send(url, { agent: false, signal, ...(isAllowed ? {} : publicOnly(resolve)) })
    if (!isAllowed) checkConnection(request)
    request.on('error', answered.reject)
    request.on('response', answered.resolve)
    request.end()
    return answered.promise
  }

  const loadFrom = async (url: URL, limits: RemoteFileLimits): Promise<Uint8Array | URL> => {
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
      throw new Error('the URL must begin with https: or http:')
    if (url.username !== '' || url.password !== '') throw new Error('the URL must not contain credentials')
    const response = await respond(url, limits.signal)
    try {
      const { statusCode = 0, headers } = response
      if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) return new URL(headers.location, url)
      if (statusCode !== 200) throw new Error(`the server answered ${statusCode}`)
      return await bodyOf(response, limits.maxBytes)
    } finally {
      response.destroy()
    }
  }

  return {
    async load(text, limits) {
      try {
        let at = new URL(text)
        for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
          const loaded = await loadFrom(at, limits)
          if (!(loaded instanceof URL)) return { bytes: loaded }
          at = loaded
        }
        return { error: `more than ${MAX_REDIRECTS} redirects` }
      } catch (error) {
        return { error: messageOf(error) }
      }
    },
  }
}

async function bodyOf(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`the file is larger than ${maxBytes} bytes`)
    chunks.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length))
  }
  return concatBytes(chunks)
}
