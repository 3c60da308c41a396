// Calls `server.fetch` from 16 loops for the given milliseconds, and prints the processor time of one request.
import { createServer } from '@perdure/server-app'
import config from './perdure.config.mjs'

const LOOPS = 16
const { agents, ...rest } = config
const server = await createServer({ config: { ...rest, storage: { path: process.env.PERDURE_STORAGE_PATH } }, agents })
await server.start({ listen: false })

async function measure(durationMs) {
  const end = performance.now() + durationMs
  const before = process.cpuUsage()
  let requests = 0
  const loop = async () => {
    for (; performance.now() < end; requests++) {
      const response = await server.fetch(new Request('http://localhost/v1/agents/echo'))
      if (!response.ok) throw new Error(`answered ${response.status}`)
      await response.text()
    }
  }
  await Promise.all(Array.from({ length: LOOPS }, loop))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / requests
}

const [warmUpMs, durationMs] = process.argv.slice(2).map(Number)
await measure(warmUpMs)
console.log(JSON.stringify({ microsPerRequest: await measure(durationMs) }))
await server.stop()
