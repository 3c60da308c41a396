import { loadDriver, loadPeer } from './open-database.ts'

/** Checks that the encryption package is installed. @throws StartError `encryption-peer-missing` */
export const checkEncryptionPeer = async (): Promise<void> => void (await loadDriver(loadPeer))
