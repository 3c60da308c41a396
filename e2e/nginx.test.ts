import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bearer, createPlace, createToken, DURABLE_CONFIG, type Place, startServer } from './berth-process.ts'

const NGINX = '/usr/sbin/nginx'

/** nginx as it comes, but for what every proxy has to be told: where to. */
async function startNginx({ dir }: Place, target: string): Promise<string> {
  if (!existsSync(NGINX)) throw new Error('nginx is missing: apt-get install nginx-light')
  const port = await freePort()
  const folder = join(dir, 'nginx')
  mkdirSync(folder)
  const upstream = new URL(target)
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
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://${upstream.host}; }
  }
}
`,
  )
  const nginx: ChildProcess = spawn(NGINX, ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' })
  onTestFinished(() => void nginx.kill('SIGTERM'))
  const url = `http://127.0.0.1:${port}${upstream.pathname}`
  const log = () => (existsSync(`${folder}/error.log`) ? readFileSync(`${folder}/error.log`, 'utf8') : '')
  await expect.poll(() => fetch(`${url}/health`).then(({ status }) => status, log), { timeout: 10_000 }).toBe(200)
  return url
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })

describe('a server behind nginx with default settings', () => {
  it('shows the first event of a run before the run ends', async () => {
    const place = createPlace()
    const token = await createToken(place)
    const server = await startServer(place, ['server', '--config', DURABLE_CONFIG])
    onTestFinished(() => void server.process.kill('SIGKILL'))
    const url = await startNginx(place, server.url)

    const response = await fetch(`${url}/agents/deaf/stream`, {
      method: 'POST',
      headers: { ...bearer(token), accept: 'text/event-stream' },
      body: JSON.stringify({ input: { gate: 'nginx' } }),
    })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let heard = ''
    const readUntil = async (wanted: string) => {
      while (!heard.includes(wanted)) {
        const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
        if (done) throw new Error(`the stream ended without ${wanted}: ${heard}`)
        heard += value
      }
    }
    // The run waits at its gate until this has arrived.
    await readUntil('event: deaf.begun')
    expect(heard).not.toContain('run.completed')
    writeFileSync(join(place.dir, 'gate-nginx'), '')
    await readUntil('event: run.completed')

    expect(response.status).toBe(200)
    await reader?.cancel()
  })
})
