import { randomBytes } from 'node:crypto'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

export interface UpgradeAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly socket?: Duplex
}

/** Requests a WebSocket in raw HTTP, because a WebSocket client would hide the answer that refuses the upgrade. */
export const askForUpgrade = (
  url: string,
  headers: Readonly<Record<string, string | undefined>> = {},
): Promise<UpgradeAnswer> =>
  new Promise((resolve, reject) => {
    const fields = {
      ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
      ...{ 'sec-websocket-key': randomBytes(16).toString('base64'), 'sec-websocket-protocol': 'svc.protocol.v1' },
      ...headers,
    }
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
    const request = httpRequest(`${url}/ws`, { headers: given as Record<string, string> })
    request.on('error', reject)
    request.on('upgrade', (response, socket) => {
      socket.on('error', () => undefined)
      resolve({ status: 101, headers: response.headers, body: '', socket })
    })
    request.on('response', async (response) => {
      let body = ''
      for await (const chunk of response) body += chunk
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
    })
    request.end()
  })
