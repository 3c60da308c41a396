import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { type DevBanner, devBanner } from './dev-banner.ts'

const TOKEN = 'perdure_local_v1_abc'
const FILE = '/home/me/.graphorin/dev-session.json'

const facts: DevBanner = {
  version: '0.1.0',
  url: 'http://127.0.0.1:8080/v1',
  cwd: '/home/me',
  storagePath: '/home/me/.graphorin/data.db',
  pepperPath: '/home/me/.graphorin/dev-pepper',
  token: { value: TOKEN, file: FILE },
  agentIds: ['echo', 'digest'],
  workflowIds: ['refund'],
  triggerIds: [],
  hookIds: [],
  tryable: [
    { kind: 'agent', id: 'echo', input: { text: 'hi' } },
    { kind: 'agent', id: 'digest', input: { file: 'README.md' } },
  ],
  hasDocs: true,
  hasConsole: false,
  outboundUrls: [],
  consoleCode: undefined,
  command: 'perdure',
  watched: undefined,
  keys: undefined,
  paint: (_, text) => text,
}

/** The commands of the banner, each on one line. */
const commands = (banner: DevBanner) =>
  devBanner(banner)
    .replaceAll(' \\\n ', '')
    .split('\n')
    .filter((line) => /^(?:perdure|npm|curl|export|node) /.test(line))

describe('devBanner', () => {
  it('starts with the address', () => {
    expect(devBanner(facts)).toMatch(/^listening on http:\/\/127\.0\.0\.1:8080\/v1\n/)
  })

  it('lists agents, triggers and workflows', () => {
    expect(devBanner(facts)).toMatch(/^ {2}Agents {5}echo, digest {4}Triggers {3}none$/m)
    expect(devBanner(facts)).toMatch(/^ {2}Workflows {2}refund$/m)
    expect(devBanner({ ...facts, workflowIds: [] })).not.toContain('Workflows')
  })

  it('lists the hooks with their addresses', () => {
    expect(devBanner({ ...facts, hookIds: ['github', 'shop'] })).toMatch(
      /^ {2}Hooks {6}github at http:\/\/127\.0\.0\.1:8080\/v1\/hooks\/github, shop at http/m,
    )
    expect(devBanner(facts)).not.toContain('Hooks')
  })

  it('lists where the server connects', () => {
    expect(devBanner(facts)).toMatch(/^ {2}Outbound {3}none {12}Telemetry {2}none$/m)
    const outboundUrls = ['https://issuer.test/jwks']
    expect(devBanner({ ...facts, outboundUrls })).toContain('https://issuer.test/jwks  Telemetry')
  })

  it('shows watched files and keys only if there are any', () => {
    const lines = devBanner({ ...facts, watched: 'perdure.config.mjs, agents/**', keys: 'q quit' })
      .trimEnd()
      .split('\n')

    expect(lines.at(-1)).toBe('  watching perdure.config.mjs, agents/**   ·   q quit')
    expect(devBanner(facts)).not.toMatch(/watching|quit/)
  })

  it('suggests commands for the registered agents with an input that each of them accepts', () => {
    expect(commands(facts).slice(0, 3)).toEqual([
      `perdure agents run echo --input '{"text":"hi"}'`,
      `perdure agents run digest --input '{"file":"README.md"}'`,
      'perdure runs list',
    ])
  })

  it('suggests the workflow of a project without agents', () => {
    const lines = commands({ ...facts, tryable: [{ kind: 'workflow', id: 'refund', input: { order: "A'17" } }] })

    expect(lines[0]).toBe(`perdure workflows run refund --input '{"order":"A'\\''17"}' --wait 10s`)
    expect(lines.find((line) => line.includes('/workflows/refund/execute'))).toBeDefined()
  })

  it('says what is missing when no input is known that the schema accepts', () => {
    expect(commands({ ...facts, tryable: [{ kind: 'agent', id: 'mine' }] })[0]).toBe(
      `perdure agents run mine --input '<JSON that the input schema accepts>'`,
    )
  })

  it('uses the way to call the command in this project', () => {
    expect(commands({ ...facts, command: 'npm run perdure --' })[0]).toMatch(/^npm run perdure -- agents run echo /)
  })

  it('prints no line that is wider than 110 characters, and ends every response with a line break', () => {
    for (const line of devBanner(facts).split('\n')) expect(line.length).toBeLessThanOrEqual(110)
    const requests = commands(facts).filter((one) => one.startsWith('curl'))
    expect(requests.length).toBeGreaterThan(0)
    for (const line of requests) expect(line).toMatch(/^curl -sw '\\n' /)
  })

  it('prints the token twice on a terminal, and the curl commands read it from a variable', () => {
    const banner = devBanner(facts)

    expect(banner.split(TOKEN)).toHaveLength(3)
    expect(commands(facts)).toContain(`export PERDURE_TOKEN=${TOKEN}`)
    expect(commands(facts).filter((line) => line.includes('Bearer $PERDURE_TOKEN"'))).toHaveLength(2)
  })

  it('omits the token when none is needed', () => {
    const banner = devBanner({ ...facts, token: undefined, pepperPath: undefined })

    expect(banner).toContain('none needed')
    expect(banner).not.toMatch(/Authorization|PERDURE_TOKEN|Pepper/)
  })

  describe('without a terminal', () => {
    const dir = temporaryDir()

    it('prints where the token is instead of the token, and a command that reads it', () => {
      mkdirSync(join(dir(), '.graphorin'))
      const file = join(dir(), '.graphorin/dev-session.json')
      writeFileSync(file, JSON.stringify({ token: TOKEN }))
      const banner = { ...facts, cwd: dir(), token: { value: undefined, file } }

      expect(devBanner(banner)).toMatch(/Token +in \.\/\.graphorin\/dev-session\.json {2}\(not printed, because stdout/)
      expect(devBanner(banner)).not.toContain(TOKEN)
      const exported = commands(banner).find((line) => line.startsWith('export'))
      const env = { PATH: `${process.execPath.replace(/\/node$/, '')}:${process.env.PATH}` }
      const { stdout } = spawnSync('sh', ['-c', `${exported}; echo "$PERDURE_TOKEN"`], {
        cwd: dir(),
        env,
        encoding: 'utf8',
      })
      expect(stdout).toBe(`${TOKEN}\n`)
    })
  })
})
