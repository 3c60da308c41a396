import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** A misbehaving server. The first argument selects the mode; the second names a file for the server's process ids. */
const [, , mode = '', pidFile = ''] = process.argv

const say = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const wait = () => setInterval(() => undefined, 60_000)

function pour(chunk: string): void {
  while (process.stdout.write(chunk));
  process.stdout.once('drain', () => pour(chunk))
}

const NOTE = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } })}\n`

const ON_CALL: Readonly<Record<string, () => void>> = {
  hang: () => undefined,
  crash: () => process.exit(3),
  'flood-line': () => pour('x'.repeat(65_536)),
  'flood-lines': () => pour(NOTE.repeat(500)),
  'flood-nonsense': () => pour('not json\n'.repeat(5_000)),
  'flood-errors': () => process.stderr.write('e'.repeat(5_000_000)),
}

if (mode === 'crash-at-start') process.exit(2)
if (mode === 'flood-at-start') pour('x'.repeat(65_536))
if (mode === 'nonsense') pour('hello\n[]\n{"jsonrpc":"1.0"}\n')
if (mode === 'stubborn') {
  process.on('SIGTERM', () => undefined)
  const grandchild = spawn(process.execPath, ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], {
    stdio: 'ignore',
  })
  writeFileSync(pidFile, JSON.stringify([process.pid, grandchild.pid]))
  wait()
}

createInterface({ input: process.stdin }).on('line', (line) => {
  if (mode === 'hang-at-start' || mode === 'nonsense') return
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') {
    const serverInfo = { name: 'rude', version: '1' }
    say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } })
  } else if (method === 'tools/list') {
    say({ id, result: { tools: [{ name: 'go', inputSchema: { type: 'object' } }] } })
  } else if (method === 'tools/call') {
    ON_CALL[mode]?.()
    if (mode === 'flood-errors' || mode === 'stubborn') say({ id, result: { content: [] } })
  }
})
if (mode === 'hang-at-start') wait()
