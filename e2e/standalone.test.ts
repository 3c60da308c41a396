import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Sbom } from '../tooling/build/sbom.ts'
import { cycloneDxValidator } from '../tooling/release/cyclone-dx.ts'
import { packStandalone } from '../tooling/release/standalone.ts'
import { consumerEnvironment } from './consumer-project.ts'
import { type StartedProcess, startProcess } from './started-process.ts'

const run = promisify(execFile)

let dir: string
let env: NodeJS.ProcessEnv

const serve = async (...args: string[]): Promise<StartedProcess> => {
  const command = join(dir, 'node_modules/.bin/perdure')
  const server = await startProcess({ command, args: [...args, '--json'], cwd: dir, env }, /\{"event":.*\}\n/)
  onTestFinished(async () => void (await server.stop()))
  return server
}

const addressOf = ({ match }: StartedProcess): string => `http://127.0.0.1:${JSON.parse(match[0]).port}/v1`

const post = async (url: string, body: object): Promise<{ readonly [name: string]: unknown }> => {
  const headers = { 'content-type': 'application/json' }
  return (await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as never
}

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-alone-'))
  dir = folder
  const tarball = await packStandalone(join(folder, 'tarball'))
  env = { ...consumerEnvironment(join(folder, 'home')), PERDURE_AUTH_KIND: 'none', PERDURE_SERVER_PORT: '0' }
  writeFileSync(join(dir, 'package.json'), '{ "private": true }')
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', tarball], {
    cwd: dir,
    env,
  })
}, 120_000)

describe('the standalone tarball', () => {
  it('installs the native driver and nothing else', () => {
    const { packages } = JSON.parse(readFileSync(join(dir, 'package-lock.json'), 'utf8'))
    const installed = Object.keys(packages).filter((path) => path !== '')

    expect(installed.map((path) => path.replace('node_modules/', '')).sort()).toEqual([
      '@perdure/standalone',
      'better-sqlite3',
      'node-addon-api',
    ])
  })

  it('includes the licence of everything it bundles', () => {
    const text = readFileSync(join(dir, 'node_modules/@perdure/standalone/THIRD-PARTY-LICENSES'), 'utf8')

    for (const name of ['hono', 'kysely', 'preact', 'valibot', 'ws', 'zod']) expect(text).toContain(`\n${name} `)
  })

  it('has a bill of materials with the command, the page and what they bundle', () => {
    const sbom: Sbom = JSON.parse(readFileSync(join(dir, 'node_modules/@perdure/standalone/sbom.cdx.json'), 'utf8'))
    const bundled = sbom.components.filter(({ properties }) => properties?.[0].value === 'bundled')
    const validate = cycloneDxValidator()

    validate(sbom)
    expect(validate.errors).toBeNull()
    expect(bundled.map(({ purl }) => purl.replace(/@[^@]+$/, ''))).toEqual(
      expect.arrayContaining(
        ['hono', 'kysely', 'preact', '%40perdure/cli', '%40perdure/console'].map((name) => `pkg:npm/${name}`),
      ),
    )
  })

  it('serves the console in perdure dev', async () => {
    const { origin } = new URL(addressOf(await serve('dev', '--no-watch')))

    const html = await (await fetch(`${origin}/console`)).text()
    const [, script] = /src="(console-[^"]+\.js)"/.exec(html) ?? []

    expect((await fetch(`${origin}/console/${script}`)).status).toBe(200)
  })

  it('commits in its storage thread and keeps a run across a kill', async () => {
    const first = await serve('server', '--demo')
    const { runId } = await post(`${addressOf(first)}/agents/echo/run`, { input: 'kept' })
    await first.stop('SIGKILL')

    const second = await serve('server', '--demo')
    const response = await fetch(`${addressOf(second)}/runs/${runId}`)

    expect(await response.json()).toMatchObject({ status: 'completed', result: 'kept' })
    expect(await (await fetch(`${addressOf(second)}/health`)).json()).toMatchObject({
      status: 'ok',
      version: expect.stringMatching(/^\d/),
    })
  })

  it('runs perdure dev with a server process', async () => {
    const server = await serve('dev', '--demo')

    expect(await (await fetch(`${addressOf(server)}/health/live`)).json()).toEqual({ status: 'ok' })
  })

  it('includes its templates and its help', async () => {
    const perdure = (...args: string[]) => run('npx', ['--no-install', 'perdure', ...args], { cwd: dir, env })

    expect((await perdure('init', 'hello', '--yes')).stdout).toContain('perdure.config')
    expect((await perdure('deploy', 'print', 'nginx')).stdout).toContain('proxy_pass')
    expect((await perdure('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})
