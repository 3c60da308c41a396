import { perdure } from '../../../../lib/perdure.ts'

export const dynamic = 'force-dynamic'

async function handle(request: Request): Promise<Response> {
  const server = await perdure()
  return server.fetch(request)
}

export {
  handle as DELETE,
  handle as GET,
  handle as HEAD,
  handle as OPTIONS,
  handle as PATCH,
  handle as POST,
  handle as PUT,
}
