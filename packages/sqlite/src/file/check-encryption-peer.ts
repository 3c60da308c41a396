import { loadDriver, loadPeer } from './open-database.ts'

/** Whether the package that encrypts is there. @throws StartError `encryption-peer-missing` */
export const checkEncryptionPeer = async (): Promise<void> => void (await loadDriver(loadPeer))
