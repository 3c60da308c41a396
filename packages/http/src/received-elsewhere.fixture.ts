import type { HttpApp } from './app.ts'

const MOUNT_PATH = process.env.HTTP_MOUNT_PATH ?? ''

/**
 * Passes every request as another HTTP server would. With HTTP_MOUNT_PATH=/ai, the requests arrive under that path, and
 * the locations in the answers must have it.
 */
export const receivedElsewhere = (app: HttpApp): HttpApp => ({
  ...app,
  async fetch(request, env = {}) {
    const { origin } = new URL(request.url)
    const mounted =
      MOUNT_PATH === '' ? request : new Request(origin + MOUNT_PATH + request.url.slice(origin.length), request)
    const response = await app.fetch(mounted, { clientAddress: '192.0.2.1', ...env })
    const location = response.headers.get('location')
    // A relative location needs no mount path.
    if (location === null || !location.startsWith('/')) return response
    if (!location.startsWith(`${MOUNT_PATH}/`)) throw new Error(`${location} lacks the mount path`)
    response.headers.set('location', location.slice(MOUNT_PATH.length))
    return response
  },
})
