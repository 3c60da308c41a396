import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { vi } from 'vitest'
import { toolPath } from '../tooling/machine-tools.ts'
import { perdure, type Sandbox } from './perdure-process.ts'
import { unusedPort } from './unused-port.ts'

export interface RunningProxy {
  /** The base URL of the API through the proxy. */
  readonly url: string
  readonly process: ChildProcess
}

/** Starts a proxy in front of the server at `target`. */
export type StartProxy = (sandbox: Sandbox, target: string) => Promise<RunningProxy>

/** nginx with its default settings; only the upstream is set. */
export const startBareNginx: StartProxy = (sandbox, target) =>
  startNginx(
    sandbox,
    target,
    (port, upstream) => `server { listen ${port}; location / { proxy_pass http://${upstream}; } }`,
  )

/** nginx with the output of `perdure deploy print nginx`. */
export const startPrintedNginx: StartProxy = async (sandbox, target) => {
  const printed = await print(sandbox, 'nginx')
  return startNginx(sandbox, target, (port, upstream) =>
    replaceOnce(replaceOnce(printed, 'listen 80;', `listen ${port};`), 'server 127.0.0.1:8080;', `server ${upstream};`),
  )
}

/** nginx that serves the server below a path, and removes the path from requests. */
export const startPrefixNginx =
  (prefix: string): StartProxy =>
  async (sandbox, target) => {
    const printed = await print(sandbox, 'nginx')
    const site = (port: string, upstream: string) =>
      [
        ['listen 80;', `listen ${port};`],
        ['server 127.0.0.1:8080;', `server ${upstream};`],
        ['location / {', `location ${prefix}/ {\n    rewrite ^${prefix}(/.*)$ $1 break;`],
      ].reduce((text, [from = '', to = '']) => replaceOnce(text, from, to), printed)
    return startNginx(sandbox, target, site, prefix)
  }

/** Caddy that serves the server below a path, and removes the path from requests. */
export const startPrefixCaddy =
  (prefix: string): StartProxy =>
  (sandbox, target) =>
    startCaddy(sandbox, target, {
      prefix,
      sites: async () =>
        replaceOnce(await print(sandbox, 'caddy'), 'reverse_proxy {', `handle_path ${prefix}/* {\n\treverse_proxy {`) +
        '}\n',
    })

/** Caddy with the output of `perdure deploy print caddy`. */
export const startPrintedCaddy: StartProxy = (sandbox, target) =>
  startCaddy(sandbox, target, { prefix: '', sites: () => print(sandbox, 'caddy') })

interface CaddyOptions {
  readonly prefix: string
  readonly sites: () => Promise<string>
}

async function startCaddy(sandbox: Sandbox, target: string, { prefix, sites }: CaddyOptions): Promise<RunningProxy> {
  const folder = join(sandbox.dir, 'caddy')
  mkdirSync(folder)
  const port = await unusedPort()
  writeFileSync(join(folder, 'Perdurefile'), await sites())
  const main = join(folder, 'Caddyfile')
  writeFileSync(main, '{\n\tadmin off\n\tdefault_bind 127.0.0.1\n}\nimport Perdurefile\n')
  const env = {
    ...{ ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    ...{ PERDURE_SITE: `http://127.0.0.1:${port}`, PERDURE_UPSTREAM: new URL(target).host },
  }
  const caddy = spawn(toolPath('caddy'), ['run', '--config', main, '--adapter', 'caddyfile'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  caddy.stderr.on('data', (chunk) => {
    log += chunk
  })
  return reachable(caddy, { port, target, prefix, log: () => log })
}

async function startNginx(
  { dir }: Sandbox,
  target: string,
  site: (listen: string, upstream: string) => string,
  prefix = '',
): Promise<RunningProxy> {
  const port = await unusedPort()
  const folder = join(dir, 'nginx')
  mkdirSync(folder)
  writeFileSync(join(folder, 'site.conf'), site(`127.0.0.1:${port}`, new URL(target).host))
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  include ${folder}/site.conf;
}
`,
  )
  const nginx = spawn(toolPath('nginx'), ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' })
  const log = () => (existsSync(`${folder}/error.log`) ? readFileSync(`${folder}/error.log`, 'utf8') : '')
  return reachable(nginx, { port, target, prefix, log })
}

interface Listening {
  readonly port: number
  readonly target: string
  /** The path below which the proxy serves the server. */
  readonly prefix: string
  readonly log: () => string
}

async function reachable(process: ChildProcess, { port, target, prefix, log }: Listening): Promise<RunningProxy> {
  const url = `http://127.0.0.1:${port}${prefix}${new URL(target).pathname}`
  const answer = async () => {
    const { status } = await fetch(`${url}/health`)
    if (status !== 200) throw new Error(`the proxy answers ${status}: ${log()}`)
  }
  await vi.waitFor(answer, { timeout: 60_000 })
  return { url, process }
}

async function print(sandbox: Sandbox, what: string): Promise<string> {
  const { code, stdout, stderr } = await perdure(sandbox, ['deploy', 'print', what])
  if (code !== 0) throw new Error(stderr)
  return stdout
}

function replaceOnce(text: string, from: string, to: string): string {
  if (text.split(from).length !== 2) throw new Error(`${from} does not occur exactly once in\n${text}`)
  return text.replace(from, to)
}
