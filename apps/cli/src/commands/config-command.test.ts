import { statSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { runCli } from '../run-cli.ts'

const dir = temporaryDir()

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const terminal = recordingTerminal({ cwd: dir(), env })
  const exitCode = await runCli(args, terminal)
  return { exitCode, out: terminal.out(), err: terminal.err() }
}

/** Node caches modules by path, so a changed configuration needs a new file name. */
const write = (text: string, name = 'perdure.config.mjs') => writeFile(join(dir(), name), text)

describe('perdure config', () => {
  beforeEach(() => write("export default {\n  server: {\n    port: 9000,\n  },\n  auth: { pepperRef: 'env:P' },\n}\n"))

  it('prints every value with its origin, and no secret', async () => {
    const { exitCode, out } = await run(['config', 'print', '--json'], {
      P: 's3cr3t'.repeat(8),
      PERDURE_RUNS_CONCURRENCY: '3',
    })
    const items: { path: string; value: unknown; origin: string }[] = JSON.parse(out).items
    const at = (path: string) => items.find((item) => item.path === path)

    expect(exitCode).toBe(0)
    expect(at('server.port')).toEqual({ path: 'server.port', value: 9000, origin: 'perdure.config.mjs:3' })
    expect(at('runs.concurrency')).toMatchObject({ value: 3, origin: 'PERDURE_RUNS_CONCURRENCY' })
    expect(at('server.host')).toMatchObject({ value: '127.0.0.1', origin: 'default' })
    expect(at('auth.pepperRef')).toMatchObject({ value: 'env:P (set, 48 bytes)', origin: 'perdure.config.mjs:5' })
    expect(out).not.toContain('s3cr3t')
  })

  it('suggests the nearest field for an unknown one and names the line of an invalid value', async () => {
    await write("export default { auth: { kind: 'none' } }", 'fine.mjs')
    const fine = await run(['config', 'check', '--config', 'fine.mjs'])
    expect(fine).toMatchObject({ exitCode: 0, out: expect.stringContaining('valid') })

    await write('export default {\n  server: {\n    prot: 1,\n  },\n}\n', 'a.mjs')
    const { exitCode, err } = await run(['config', 'check', '--config', 'a.mjs'])
    expect(exitCode).toBe(2)
    expect(err).toContain('server.prot: unknown field (did you mean server.port?)')

    await write("export default {\n  server: {\n    port: 'x',\n  },\n}\n", 'b.mjs')
    expect((await run(['config', 'check', '--config', 'b.mjs'])).err).toContain('  at server.port (b.mjs:3)\n')
  })

  it.each([
    [
      'config-invalid',
      "export default { triggers: [{ id: 't', kind: 'cron', cron: '0 7 * * *', target: { agentId: 'no' } }] }",
    ],
    [
      'config-invalid',
      "export default { agents: [{ id: 'not an id', description: '', agent: { id: 'a', run() {} } }] }",
    ],
    ['config-invalid', "export default { storage: { path: '/proc/nope/x.db' } }"],
    ['config-invalid', "export default { auth: { kind: 'none' }, server: { host: '0.0.0.0' } }"],
    ['secret-unresolvable', "export default { auth: { pepperRef: 'file:nowhere' } }"],
    ['encryption-passphrase-missing', 'export default { audit: { enabled: true } }'],
  ])('fails with the error of a server start, %s, for %s', async (kind, text) => {
    await write(text, `${text.length}.mjs`)
    const { exitCode, out } = await run(['config', 'check', '--config', `${text.length}.mjs`, '--json'])

    expect(exitCode).toBe(2)
    expect(JSON.parse(out)).toMatchObject({ error: kind, hint: expect.any(String) })
  })

  it('rejects a registration whose code has another id', async () => {
    await write(
      "export default { agents: [{ id: 'x', description: '', agent: { id: 'y', run() {} } }] }",
      'two-ids.mjs',
    )

    const { exitCode, err } = await run(['config', 'check', '--config', 'two-ids.mjs'])

    expect(exitCode).toBe(2)
    expect(err).toContain('error[config-invalid]: agent "x": agent.id is "y"\n')
    expect(err).toContain('hint: remove agent.id, or set both ids to the same text\n')
  })

  it('accepts a configuration without a pepper and warns that perdure server needs one', async () => {
    await write('export default {}', 'open.mjs')
    const { exitCode, out } = await run(['config', 'check', '--config', 'open.mjs', '--json'])

    expect(exitCode).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ ok: true, warnings: [expect.stringContaining('auth.pepperRef')] })
  })

  it('prints a JSON Schema with the default and description of a field', async () => {
    const { port } = JSON.parse((await run(['config', 'schema'])).out).properties.server.properties

    expect(port).toMatchObject({ type: 'integer', default: 8080, description: expect.stringContaining('Port') })
  })
})

describe('perdure secrets', () => {
  it('writes a secret that only its owner can read, does not print it and never overwrites a file', async () => {
    const { exitCode, out } = await run(['secrets', 'generate', 'pepper', '--json'])
    const path = join(dir(), 'secrets/pepper')
    const secret = (await readFile(path, 'utf8')).trim()

    expect(exitCode).toBe(0)
    expect(JSON.parse(out)).toEqual({ kind: 'pepper', ref: 'file:./secrets/pepper', path, bytes: secret.length })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(Buffer.from(secret, 'base64')).toHaveLength(32)
    expect((await run(['secrets', 'generate', 'pepper'])).exitCode).toBe(6)
    expect((await readFile(path, 'utf8')).trim()).toBe(secret)
  })

  it('rejects an unknown kind, and a reference that cannot be written', async () => {
    expect((await run(['secrets', 'generate', 'salt'])).exitCode).toBe(2)
    expect((await run(['secrets', 'generate', 'pepper', '--out', 'env:P'])).err).toContain('cannot be written')
  })

  it('exits 5 when a reference does not resolve', async () => {
    await write("export default { auth: { pepperRef: 'env:P' } }\n")

    expect((await run(['secrets', 'check'], { P: 'x'.repeat(40) })).exitCode).toBe(0)
    expect(await run(['secrets', 'check'])).toMatchObject({ exitCode: 5, out: expect.stringContaining('not set') })
  })
})
