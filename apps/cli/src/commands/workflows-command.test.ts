import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { runCli } from '../run-cli.ts'

describe('berth workflows run', () => {
  const dir = temporaryDir()

  /** Against a server whose workflows all stand so. */
  const run = async (status: string, ...flags: readonly string[]) => {
    const outcome = { runId: 'run_1', workflowId: 'w', threadId: 'thr_1', status, finishReason: null, links: {} }
    const server = createServer((_, response) => {
      response.writeHead(202, { 'content-type': 'application/json' })
      response.end(JSON.stringify(outcome))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const terminal = recordingTerminal({ cwd: dir(), env: { XDG_CONFIG_HOME: dir() } })
    const place = ['--url', `http://127.0.0.1:${port}/v1`, '--token', 't']
    const exitCode = await runCli(['workflows', 'run', 'w', ...flags, ...place], terminal)
    return { exitCode, out: terminal.out(), err: terminal.err() }
  }

  it.each([
    ['completed', 0],
    ['failed', 1],
    ['aborted', 1],
    ['suspended', 3],
    ['running', 3],
    ['queued', 3],
  ])('that waits exits, when it is %s, %i', async (status, exitCode) => {
    expect((await run(status, '--wait', '2s')).exitCode).toBe(exitCode)
  })

  it('that waits says how to go on when it has not ended, and what stdout holds stays the same', async () => {
    const { out, err } = await run('suspended', '--wait', '2s')

    expect(out).toBe('run_1  suspended\n')
    expect(err).toContain('not ended within 2s: berth runs tail run_1 --follow')
    expect(JSON.parse((await run('suspended', '--wait', '2s', '--json')).out)).toMatchObject({ status: 'suspended' })
  })

  it.each(['running', 'queued', 'suspended'])('that only starts exits 0 when it is %s', async (status) => {
    expect((await run(status)).exitCode).toBe(0)
  })
})
