import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it('writes nothing when the command ends before it has given an order', async () => {
  const server = fork(fileURLToPath(new URL('./dev-server.ts', import.meta.url)), {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'],
    execArgv: ['--conditions=perdure-source'],
  })
  let written = ''
  for (const stream of [server.stdout, server.stderr]) stream?.on('data', (data) => (written += data))
  const ended = once(server, 'exit')
  await once(server, 'spawn')
  server.disconnect()

  const [, signal] = await ended
  expect(written).toBe('')
  expect(signal).toBe('SIGKILL')
})
