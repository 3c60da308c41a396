import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { runCli } from '../run-cli.ts'

interface Announcement {
  readonly event: string
  readonly host: string
  readonly port: number
  readonly basePath: string
  readonly tokenFile: string
  readonly agents?: readonly string[]
}

const PEPPER = { PERDURE_AUTH_PEPPER_REF: 'file:pepper' }

describe('perdure server or perdure dev', () => {
  const dir = temporaryDir()

  /** Runs the command, passes its first output to `work`, then sends SIGTERM. */
  const serve = async (args: readonly string[], work: (text: string) => Promise<void> = async () => undefined) => {
    await writeFile(join(dir(), 'pepper'), 'p'.repeat(32), { mode: 0o600 })
    let worked: Promise<void> | undefined
    const terminal = recordingTerminal({
      cwd: dir(),
      env: args[0] === 'server' ? PEPPER : {},
      onOut(text, { interrupt }) {
        worked ??= work(text).finally(() => interrupt({ type: 'signal', signal: 'SIGTERM' }))
      },
    })
    const exitCode = await runCli(args, terminal)
    await worked
    return { exitCode, out: terminal.out(), err: terminal.err() }
  }

  it('prints one line with the bound port and exits 0 after the drain', async () => {
    const { exitCode, out } = await serve(['server', '--port', '0'])

    expect(out).toMatch(/^listening on http:\/\/127\.0\.0\.1:[1-9]\d*\/v1\n$/)
    expect(exitCode).toBe(0)
  })

  it('prints the address as one JSON document with --json', async () => {
    const { out } = await serve(['server', '--port', '0', '--json'])

    expect(JSON.parse(out)).toEqual({
      event: 'listening',
      host: '127.0.0.1',
      port: expect.any(Number),
      basePath: '/v1',
    })
  })

  it('validates the configuration without opening the storage when --check is given', async () => {
    const { exitCode, out } = await serve(['server', '--check'])

    expect(exitCode).toBe(0)
    expect(out).toBe('ready to start\n')
    expect(existsSync(join(dir(), '.graphorin'))).toBe(false)
  })

  it('refuses to start perdure server without a pepper', async () => {
    const terminal = recordingTerminal({ cwd: dir() })

    expect(await runCli(['server', '--port', '0', '--json'], terminal)).toBe(2)
    expect(JSON.parse(terminal.out())).toMatchObject({ error: 'pepper-missing', hint: expect.any(String) })
  })

  it('refuses a database that it cannot open when --check is given, and leaves it unchanged', async () => {
    const text = 'x'.repeat(10_000)
    await mkdir(join(dir(), '.graphorin'))
    await writeFile(join(dir(), '.graphorin/data.db'), text)
    const { exitCode, out, err } = await serve(['server', '--check'])

    expect([exitCode, out]).toEqual([2, ''])
    expect(err).toMatch(/^error\[storage-corrupt\]: /m)
    expect(readFileSync(join(dir(), '.graphorin/data.db'), 'utf8')).toBe(text)
  })

  it.each(['server --port 0', 'server --check', 'dev --port 0'])(
    'rejects a storage path in a kernel filesystem: perdure %s',
    async (line) => {
      const args = line.split(' ')
      await writeFile(join(dir(), 'pepper'), 'p'.repeat(32), { mode: 0o600 })
      const env = { PERDURE_STORAGE_PATH: '/proc/nope/x.db', ...(args[0] === 'server' ? PEPPER : {}) }
      const terminal = recordingTerminal({ cwd: dir(), env })

      expect(await runCli([...args, '--json'], terminal)).toBe(2)
      expect(JSON.parse(terminal.out())).toMatchObject({ error: 'config-invalid', hint: expect.any(String) })
    },
  )

  it('refuses to start when the onReady hook throws', async () => {
    const config = "export default { hooks: { async onReady() { throw new Error('no') } } }"
    await writeFile(join(dir(), 'perdure.config.mjs'), config)
    const { exitCode, out, err } = await serve(['server', '--port', '0'])

    expect(exitCode).toBe(2)
    expect(out).toBe('')
    expect(err).toMatch(/^error\[hook-failed\]: .*onReady.*\n {2}hint: /m)
  })

  it('reports a port in use as address-in-use, with the flag that set it', async () => {
    const otherProgram = createServer()
    await new Promise<void>((resolve) => otherProgram.listen(0, '127.0.0.1', resolve))
    const { port } = otherProgram.address() as { port: number }
    const { exitCode, err } = await serve(['server', '--port', String(port)])
    otherProgram.close()

    expect(exitCode).toBe(2)
    expect(err).toMatch(/^error\[address-in-use\]: .*\n {2}at server\.port \(flag --port\)\n {2}hint: /m)
  })

  it('serves the demo agents to a client with the token that perdure dev creates', async () => {
    const { exitCode, out } = await serve(['dev', '--demo', '--port', '0', '--json'], async (text) => {
      const { host, port, basePath, tokenFile } = JSON.parse(text) as Announcement
      const { token } = JSON.parse(readFileSync(tokenFile, 'utf8')) as { readonly token: string }
      expect(text).not.toContain(token)
      const response = await fetch(`http://${host}:${port}${basePath}/agents/digest/run`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ input: 'The log survives a crash. Clients read on.' }),
      })

      expect(await response.json()).toMatchObject({ status: 'completed', result: { words: 8 } })
    })

    expect(exitCode).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ event: 'listening', agents: ['echo', 'digest'] })
  })

  it('registers an echo agent in an empty folder and keeps a configured agent with the same id', async () => {
    expect(JSON.parse((await serve(['dev', '--port', '0', '--json'])).out)).toMatchObject({ agents: ['echo'] })

    const own = `{ id: 'echo', description: 'Mine.', agent: { run: async (input) => input } }`
    await writeFile(join(dir(), 'perdure.config.mjs'), `export default { agents: [${own}] }`)
    expect(JSON.parse((await serve(['dev', '--demo', '--port', '0', '--json'])).out)).toMatchObject({
      agents: ['echo', 'digest'],
    })
  })
})
