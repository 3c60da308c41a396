/** The path of a request that another HTTP server of the process has received. */
export interface MountedPath {
  /** The part of the path before the base path; may be empty. */
  readonly mountPath: string
  /** The path from the base path on. */
  readonly path: string
}

/**
 * Separates the prefix that the other server has put before the base path. Some frameworks remove the path under which
 * they mount a handler, so the beginning of the base path can also be missing. Uses the first interpretation that
 * matches a route, or the unchanged path if none does.
 */
export function findMountedPath(
  path: string,
  { basePath, hasRoute }: { readonly basePath: string; readonly hasRoute: (path: string) => boolean },
): MountedPath {
  const asIs = { mountPath: '', path }
  if (isBelow(path, basePath) && hasRoute(path)) return asIs
  const readings = [...afterMountPath(path, basePath), ...withMissingPart(path, basePath)]
  return readings.find((one) => hasRoute(one.path)) ?? asIs
}

/**
 * Every route has fewer segments than this. Without the limit, matching a long path of repeated base paths would take
 * time quadratic in its length.
 */
const MAX_READINGS = 16

/**
 * Segments of visible ASCII characters. A `Location` that started with `//` or `/\` would name another host.
 */
const MOUNT_PATH = /^(?:\/[!-.0-[\]-~]+)+$/

function afterMountPath(path: string, basePath: string): readonly MountedPath[] {
  const found: MountedPath[] = []
  const end = path.length - basePath.length
  for (let at = path.lastIndexOf(basePath, end); at > 0; at = path.lastIndexOf(basePath, at - 1)) {
    if (found.length === MAX_READINGS) break
    if (isBelow(path, basePath, at)) found.push({ mountPath: path.slice(0, at), path: path.slice(at) })
  }
  return found.reverse().filter(({ mountPath }) => MOUNT_PATH.test(mountPath))
}

function* withMissingPart(path: string, basePath: string): Generator<MountedPath> {
  const ends = [...basePath.matchAll(/\//g)].map(({ index }) => index).slice(1)
  for (const at of ends) {
    if (isBelow(path, basePath.slice(at))) yield { mountPath: '', path: basePath.slice(0, at) + path }
  }
}

const isBelow = (path: string, base: string, at = 0) =>
  path.startsWith(base, at) && [undefined, '/'].includes(path[at + base.length])
