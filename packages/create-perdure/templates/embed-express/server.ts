import { createApp } from './app.ts'
import { startPerdure } from './perdure.ts'

const perdure = await startPerdure('./.graphorin/data.db')
process.on('unhandledRejection', (error) => perdure.attribute(error) || process.exit(1))
perdure.fatal.then(() => process.exit(70))

const port = Number(process.env.PORT ?? 3000)
const host = createApp(perdure).listen(port, () => console.log(`listening on http://localhost:${port}`))
host.on('upgrade', perdure.upgrade)

// Perdure first: executing runs finish, and the streams end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await perdure.stop()
    host.close()
  })
}
