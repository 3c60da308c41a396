import { once } from 'node:events'
import { type ClientRequest, request } from 'node:http'
import { EVERY_ROW } from '@perdure/ports'
import { expect, it } from 'vitest'
import { jwtOf, startJwtServer } from './jwt-server.fixture.ts'

/** The status of the answer to an upgrade. */
async function statusOf(url: string, credential: string): Promise<number | undefined> {
  const headers = {
    authorization: `Bearer ${credential}`,
    ...{
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    },
  }
  const sent: ClientRequest = request(url, { headers }).end()
  const upgraded = once(sent, 'upgrade').then(([response, socket]) => {
    socket.destroy()
    return response.statusCode
  })
  return Promise.race([upgraded, once(sent, 'response').then(([response]) => response.resume().statusCode)])
}

it('opens the WebSocket of a chat only for an agent that exists', async () => {
  const { url } = await startJwtServer()

  expect(await statusOf(`${url}/agents/echo/chat`, jwtOf())).toBe(101)
  expect(await statusOf(`${url}/agents/nobody/chat`, jwtOf())).toBe(404)
})

it('closes the WebSocket of a chat whose client sends a member twice, and starts nothing', async () => {
  const { url, storage } = await startJwtServer()
  const headers = { authorization: `Bearer ${jwtOf()}` }
  const socket = new WebSocket(`${url.replace('http', 'ws')}/agents/echo/chat`, { headers } as never)
  await once(socket, 'open')
  const closed = once(socket, 'close')
  const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }] }]
  const frame = { requestId: 'r', id: 'c', headers: {}, body: {}, trigger: 'submit-message', messages }

  socket.send(`{"type":"send","type":"send",${JSON.stringify(frame).slice(1)}`)

  expect((await closed)[0].code).toBe(4008)
  expect((await storage.runs.list({}, { limit: 1, order: 'asc' }, EVERY_ROW)).items).toEqual([])
})

it('takes a long history over the WebSocket of a chat, and the frames after it in their order', async () => {
  const { url } = await startJwtServer()
  const headers = { authorization: `Bearer ${jwtOf()}` }
  const socket = new WebSocket(`${url.replace('http', 'ws')}/agents/echo/chat`, { headers } as never)
  await once(socket, 'open')
  const row = Object.fromEntries(Array.from({ length: 12 }, (_, column) => [`column${column}`, column]))
  const output = Array.from({ length: 2_500 }, () => row)
  const message = (id: string) => ({ id, role: 'user', parts: [{ type: 'text', text: 'hi' }] })
  const frame = (requestId: string, messages: object[]) =>
    JSON.stringify({
      type: 'send',
      requestId,
      id: requestId,
      headers: {},
      body: {},
      trigger: 'submit-message',
      messages,
    })
  const answers: { type: string; requestId: string; errorText?: string }[] = []
  socket.addEventListener('message', ({ data }) => answers.push(JSON.parse(String(data))))

  socket.send(frame('long', [{ id: 'a', role: 'assistant', parts: [{ type: 'tool-rows', output }] }, message('m')]))
  socket.send(frame('short', [message('n')]))

  await expect
    .poll(() => answers.filter(({ type }) => type === 'end' || type === 'error'), { timeout: 10_000 })
    .toHaveLength(2)
  expect(answers.filter(({ type }) => type === 'error')).toEqual([])
  socket.close()
})
