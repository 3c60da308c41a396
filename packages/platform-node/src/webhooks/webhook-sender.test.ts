import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { isPublicAddress } from '../outbound/public-address.ts'
import { sendWebhook } from './send-webhook.ts'
import { createWebhookSender } from './webhook-sender.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A receiver on loopback that counts connections. */
async function openReceiver(listener: RequestListener) {
  const requests: { readonly head: IncomingMessage; readonly body: string }[] = []
  let connections = 0
  const server = createServer(async (head, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of head) chunks.push(chunk)
    requests.push({ head, body: Buffer.concat(chunks).toString() })
    listener(head, response)
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  return { requests, port, url: `http://127.0.0.1:${port}/in`, connections: () => connections }
}

const request = (url: string, over: object = {}) => ({
  ...{ url, headers: { 'webhook-id': 'evt_1' }, body: '{"ü":1}', timeoutMs: 5_000 },
  ...{ signal: new AbortController().signal, ...over },
})

describe('isPublicAddress', () => {
  it.each([
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '192.0.2.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '',
    'localhost',
  ])('is false for %s', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '192.169.0.1', '2606:4700::1111', '2a00:1450::1'])(
    'is true for %s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true)
    },
  )
})

describe('createWebhookSender', () => {
  it.each([
    ['https://hooks.example/in', undefined],
    ['https://8.8.8.8/in', undefined],
    ['http://internal:9000/in', undefined],
    ['http://internal:9001/in', 'must begin with https:, unless webhooks.allowHosts lists internal:9001'],
    ['http://hooks.example/in', 'must begin with https:'],
    ['ftp://hooks.example/in', 'must begin with https:'],
    ['https://user:secret@hooks.example/', 'must not contain credentials'],
    ['https://127.0.0.1/', '127.0.0.1 is not a public address'],
    ['https://2130706433/', '127.0.0.1 is not a public address'],
    ['https://0x7f.1/', '127.0.0.1 is not a public address'],
    ['https://[::1]/', '::1 is not a public address'],
    ['https://[::ffff:10.0.0.1]/', '::ffff:a00:1 is not a public address'],
    ['no url', 'must begin with https:'],
  ])('judges %s', (url, refusal) => {
    const { refusalOf } = createWebhookSender({ allowHosts: ['internal:9000'] })
    expect(refusalOf(url)).toEqual(refusal === undefined ? undefined : expect.stringContaining(refusal))
  })

  it('sends the body and the headers to an allowed host and returns its answer', async () => {
    const receiver = await openReceiver((_, response) => response.writeHead(503, { 'Retry-After': '7' }).end('later'))
    const sender = createWebhookSender({ allowHosts: [`127.0.0.1:${receiver.port}`] })

    expect(await sender.send(request(receiver.url))).toEqual({ status: 503, retryAfterMs: 7_000 })
    const [sent] = receiver.requests
    expect(sent?.body).toBe('{"ü":1}')
    expect(sent?.head.method).toBe('POST')
    expect(sent?.head.headers).toMatchObject({ 'webhook-id': 'evt_1', 'content-length': '8' })
  })

  it('does not connect to a literal private address, even if the URL was stored when it was allowed', async () => {
    const receiver = await openReceiver((_, response) => response.end())
    const sender = createWebhookSender({ allowHosts: [] })

    expect(await sender.send(request(receiver.url.replace('http', 'https')))).toEqual({
      error: '127.0.0.1 is not a public address',
    })
    expect(receiver.connections()).toBe(0)
  })

  it('does not follow a redirect', async () => {
    const target = await openReceiver((_, response) => response.end())
    const receiver = await openReceiver((_, response) => response.writeHead(307, { Location: target.url }).end())
    const allowHosts = [receiver.port, target.port].map((port) => `127.0.0.1:${port}`)

    expect(await createWebhookSender({ allowHosts }).send(request(receiver.url))).toEqual({
      status: 307,
      retryAfterMs: undefined,
    })
    expect(target.connections()).toBe(0)
  })
})

describe('sendWebhook', () => {
  it('refuses a name that resolves to a private address, alone or among public ones', async () => {
    const receiver = await openReceiver((_, response) => response.end())
    const url = `http://rebound.example:${receiver.port}/in`
    const loopback = { address: '127.0.0.1', family: 4 }

    for (const addresses of [[loopback], [{ address: '8.8.8.8', family: 4 }, loopback]]) {
      const resolve = async () => addresses
      expect(await sendWebhook(request(url), { isAllowed: false, resolve })).toEqual({
        error: 'rebound.example resolves to 127.0.0.1, which is not a public address',
      })
    }
    expect(receiver.connections()).toBe(0)
  })

  it('resolves a name once, and connects to the addresses that it has checked', async () => {
    const receiver = await openReceiver((_, response) => response.end())
    const answers = [
      { address: '240.0.0.1', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]
    let lookups = 0
    const resolve = async () => [answers[lookups++] ?? { address: '127.0.0.1', family: 4 }]
    const url = `http://rebound.example:${receiver.port}/in`

    expect(await sendWebhook(request(url), { isAllowed: false, resolve })).toMatchObject({ error: expect.any(String) })
    expect(lookups).toBe(1)
    expect(receiver.connections()).toBe(0)
  })

  it('sends nothing over a connection to a private address, however it came about', async () => {
    const receiver = await openReceiver((_, response) => response.end())

    expect(await sendWebhook(request(receiver.url), { isAllowed: false })).toEqual({
      error: '127.0.0.1 is not a public address',
    })
    expect(receiver.requests).toEqual([])
  })

  it('gives up after the timeout, and when the server stops', async () => {
    const receiver = await openReceiver(() => undefined)
    const stopping = new AbortController()
    const stopped = sendWebhook(request(receiver.url, { signal: stopping.signal }), { isAllowed: true })
    const late = sendWebhook(request(receiver.url, { timeoutMs: 50 }), { isAllowed: true })

    expect(await late).toEqual({ error: 'no response within 50 ms' })
    stopping.abort()
    expect(await stopped).toEqual({ error: expect.stringContaining('aborted') })
  })

  it('reads only the beginning of an endless answer', async () => {
    let isOpen = true
    const receiver = await openReceiver((_, response) => {
      response.on('close', () => {
        isOpen = false
      })
      const more = () => void (isOpen && response.write('x'.repeat(1_024), () => setImmediate(more)))
      more()
    })

    expect(await sendWebhook(request(receiver.url), { isAllowed: true })).toMatchObject({ status: 200 })
    await expect.poll(() => isOpen).toBe(false)
  })

  it('reports why there is no connection', async () => {
    const receiver = await openReceiver(() => undefined)
    for (const close of closing.splice(0)) close()

    expect(await sendWebhook(request(receiver.url), { isAllowed: true })).toMatchObject({
      error: expect.stringContaining('ECONNREFUSED'),
    })
  })
})
